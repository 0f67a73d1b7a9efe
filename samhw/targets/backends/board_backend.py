"""Designs on boards as backends, one for each board."""

import importlib.util
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from samhw.compiler import Compiled
from samhw.compiler.placement import arrays_off_chip
from samhw.cost import Device
from samhw.errors import InputError
from samhw.graph import AddressMap, OffChipMemory, SdramMemory
from samhw.graph.off_chip_memory import SDRAM
from samhw.targets.backends.backend import Backend, Execution
from samhw.targets.backends.sim import write_graph
from samhw.targets.building.elaborate import NAME, check_generator, write_address_map
from samhw.targets.building.project import write_driver
from samhw.targets.running.images import Inputs

__all__ = ["BoardBackend"]

_log = logging.getLogger(__name__)


class BoardBackend(Backend):
    """A board, through a cable or in emulation (docs/boards.md).

    Args:
        board: as `samhw.targets.boards.board.find_board` takes it: a name, or the path of a user's own
        file.
    """

    label = "board"
    takes_memory = True
    has_sdram = True
    cycle_by_cycle = True
    carries_data = True
    settings = frozenset({"clock", "baud", "port", "emulate", "memory"})
    key_files: ClassVar[dict[str, str]] = {
        "top.bit": "the bitstream",
        "top.tcl": "makes the bitstream with the vendor's tools",
        "report.txt": "clock and area",
        "host.py": "runs it on the data: python host.py PORT",
        "driver.h": "a driver in C",
        "address_map.h": "the host's addresses, also as JSON",
    }
    data_files = frozenset({"host.py"})

    def __init__(self, board: str):
        self.board = board
        self.name = self.target = f"board:{board}"

    @property
    def devices(self) -> Sequence[Device]:
        """The board's own."""
        _check_packages()
        from samhw.targets.boards.board import find_board

        return (find_board(self.board).part,)

    def check_build(self, *, memory: OffChipMemory | None = None, **settings: Any) -> None:
        self._check_bitstreams(memory)

    def check_run(
        self,
        *,
        port: str | None = None,
        emulate: bool = False,
        memory: OffChipMemory | None = None,
        **options: Any,
    ) -> None:
        if emulate == (port is not None):
            raise InputError(
                f"{self.name} is either emulated or at the end of a cable; give one of --emulate and --port."
            )
        if port is None:
            from samhw.targets.building.cpp_compiler import find_cpp_compiler
            from samhw.targets.building.verilator import find_verilator

            _check_packages(memory)
            find_verilator()
            find_cpp_compiler()
        else:
            from samhw.targets.link import load_pyserial

            self._check_bitstreams(memory)
            load_pyserial()

    def _check_bitstreams(self, memory: OffChipMemory | None) -> None:
        """Raises `InputError` if something is missing that makes the board's bitstreams, where samhw does."""
        _check_packages(memory)
        from samhw.targets.boards.board import find_board
        from samhw.targets.building.boards import bitstream_tools

        if find_board(self.board).family.bitstreams:
            bitstream_tools()

    def execute(
        self,
        compiled: Compiled,
        inputs: Inputs,
        *,
        port: str | None = None,
        emulate: bool = False,
        clock: float | None = None,
        baud: int | None = None,
        memory: OffChipMemory | None = None,
        memory_log: Path | None = None,
    ) -> Execution:
        """As for `Backend`.

        Args:
            port: the serial port with the board; its bitstream is made and loaded if need be.
            emulate: in its place a board under Verilator, pins to pins.
            clock: period in ns; None for what the design reaches, and in emulation for the board's.
            baud: of the link; None for the board's.
            memory: the board's SDRAM, if tensors lie there.
            memory_log: the file that takes what that did, if it is emulated.
        """
        self.check_run(port=port, emulate=emulate, memory=memory)
        if memory_log is not None and port is not None:
            raise InputError(
                "A board at a cable keeps no log of its SDRAM, which the simulator would have to have; build "
                f"it ('samhw build .. --target {self.target} --memory {SDRAM}') and run its host.py, or take "
                "--emulate."
            )
        # Imported here, since the simulator needs neither Amaranth nor pyserial.
        from samhw.targets.building.boards import BoardDesign, load_bitstream, make_bitstream
        from samhw.targets.link import SerialPort
        from samhw.targets.running.boards import BoardSession, EmulatedLine

        begin = time.perf_counter()
        placed = _placed(compiled, memory)
        on_board = BoardDesign.named(self.board, compiled.design, compiled.arch, clock, baud, *placed)
        clock_hz = on_board.clock
        if port is None:
            line: SerialPort | EmulatedLine = EmulatedLine(on_board)
        else:
            SerialPort(port, on_board.baud).close()  # Minutes before it is needed: is it there?
            if on_board.board.family.bitstreams:
                bitstream = make_bitstream(on_board)
                clock_hz = bitstream.clock
                load_bitstream(on_board.board, bitstream.path)
            line = SerialPort(port, on_board.baud)
        built = time.perf_counter()
        _log.debug("running on the board")
        with BoardSession(on_board.design, on_board.arch, on_board.build, line, on_board.layout) as session:
            found = session.run(*inputs, buffers=True)
            if memory is not None and memory_log is not None and isinstance(line, EmulatedLine):
                memory_log.write_text(line.memory_log(memory), encoding="utf-8")
        seconds = time.perf_counter() - built
        return Execution(found.memories, found.cycles, found.region_cycles, seconds, built - begin, clock_hz)

    def build(
        self,
        compiled: Compiled,
        directory: Path,
        inputs: Inputs | None,
        *,
        clock: float | None = None,
        baud: int | None = None,
        memory: OffChipMemory | None = None,
    ) -> None:
        """The graph, the address map, and what `write_folder` writes: netlist, constraints, bitstream, report
        and, with inputs, a host.

        Args:
            clock: period in ns; None for what the design reaches.
            baud: of the link; None for the board's.
            memory: as of `execute`.
        """
        self.check_build(memory=memory)
        from samhw.targets.building.boards import BoardDesign
        from samhw.targets.running.boards import write_folder

        design, arch = compiled.design, compiled.arch
        write_graph(compiled, directory)
        placed = _placed(compiled, memory)
        on_board = BoardDesign.named(self.board, design, arch, clock, baud, *placed)
        write_address_map(design, arch, directory, NAME, layout=on_board.layout)
        write_driver(AddressMap(design, arch, layout=on_board.layout), directory, NAME)
        write_folder(on_board, directory, inputs)


def _placed(
    compiled: Compiled, memory: OffChipMemory | None
) -> tuple[SdramMemory | None, tuple[str, ...] | None]:
    """The SDRAM and the arrays that lie there. Raises `InputError` for a memory that no board has."""
    if memory is None:
        return None, None
    if not isinstance(memory, SdramMemory):
        raise InputError(f"A board has no memory '{memory.name}'; give '--memory {SDRAM}'.")
    return memory, tuple(arrays_off_chip(compiled, memory))


def _check_packages(memory: OffChipMemory | None = None) -> None:
    """Raises `InputError` if a package is missing that all boards need, or one with such a memory."""
    check_generator(memory)
    if importlib.util.find_spec("amaranth_boards") is None:
        raise InputError("amaranth-boards was not found; install it with pip install 'samhw[rtl]'.")
