"""The simulators of the RTL as backends: each has a program that takes commands from a host. Verilator and
Icarus run the generated Verilog, Icarus by the rules of SystemVerilog, with unknown bits; CXXRTL runs the
netlist, without a Verilog writer."""

import logging
import shutil
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from samhw.compiler import Compiled
from samhw.compiler.placement import layout_beside
from samhw.errors import InputError
from samhw.graph import (
    AddressMap,
    Dram,
    HostOptions,
    MemoryRole,
    OffChipLayout,
    OffChipMemory,
    SdramMemory,
    at_clock,
)
from samhw.graph.address_map import Control, Register
from samhw.graph.numerics import Words
from samhw.targets.backends.backend import Backend, Execution
from samhw.targets.backends.sim import write_graph
from samhw.targets.building.build_cache import BuiltProgram
from samhw.targets.building.elaborate import NAME, check_generator, write_address_map
from samhw.targets.running.images import Inputs, packed

__all__ = ["CxxrtlBackend", "IcarusBackend", "VerilatorBackend"]

_log = logging.getLogger(__name__)


BESIDE = {
    "run.txt": "the data's run: cd to the folder, ./simulate < run.txt",
    f"{NAME}.v": "the RTL",
    "address_map.h": "the host's addresses, also as JSON",
}
"""The key files of every build, beside `simulate`."""


class RtlBackend(Backend):
    """The RTL in a simulator, cycle by cycle."""

    carries_data = True
    cycle_by_cycle = True
    simulates_rtl = True
    takes_memory = True
    settings = frozenset({"host", "memory", "clock"})

    @abstractmethod
    def write_program(
        self, compiled: Compiled, directory: Path, host: HostOptions, layout: OffChipLayout | None
    ) -> None:
        """Writes `simulate`, and what it needs."""

    @abstractmethod
    def find_tools(self) -> None:
        """Raises `InputError` where what builds and runs the program is not installed."""

    def check_build(
        self, *, memory: OffChipMemory | None = None, clock: float | None = None, **settings: Any
    ) -> None:
        _at_clock(memory, clock)
        self._check_sdram(memory)
        check_generator(memory)
        self.find_tools()

    def check_run(self, **options: Any) -> None:
        self.check_build(**options)

    def build(
        self,
        compiled: Compiled,
        directory: Path,
        inputs: Inputs | None,
        *,
        host: str = "",
        memory: OffChipMemory | None = None,
        clock: float | None = None,
    ) -> None:
        """The graph, the RTL (`samhw_top.v`), the address map (JSON and C header), and the program that runs
        it (`simulate`). With inputs, their words as binary files (`data/`) and the commands that load them,
        run and read the results back: `cd DIRECTORY && ./simulate < run.txt`. An array off the chip has a
        file of its bytes, as docs/memory.md lays them out.

        Args:
            host: the choices of its port, as `HostOptions.parse` takes them.
            memory: what holds the tensors that the schedule has off chip; `run.txt` says what it is.
            clock: period in ns, by which a DRAM or an SDRAM counts its times.
        """
        from samhw.targets.boards import SDRAM_MODEL
        from samhw.targets.building.elaborate import generate_verilog

        memory = _at_clock(memory, clock)
        layout = self.layout(compiled, memory)
        write_graph(compiled, directory)
        design, arch, chosen = compiled.design, compiled.arch, HostOptions.parse(host)
        text = generate_verilog(design, arch, host=chosen, layout=layout)
        if layout is not None and layout.chip is not None:
            text += SDRAM_MODEL.read_text(encoding="utf-8")
        (directory / f"{NAME}.v").write_text(text, encoding="utf-8")
        write_address_map(design, arch, directory, host=chosen, layout=layout)
        self.write_program(compiled, directory, chosen, layout)
        if inputs is not None:
            _write_data(AddressMap(design, arch, chosen, layout), inputs, directory, memory)

    def layout(self, compiled: Compiled, memory: OffChipMemory | None) -> OffChipLayout | None:
        """What lies off the chip. Raises `InputError` for an SDRAM, unless it has one."""
        self._check_sdram(memory)
        return layout_beside(compiled, memory)

    def _check_sdram(self, memory: OffChipMemory | None) -> None:
        if isinstance(memory, SdramMemory) and not self.has_sdram:
            raise InputError(
                f"What {self.label} runs has no SDRAM with its controller; choose 'verilator', or another "
                "--memory."
            )


class ProgramBackend(RtlBackend):
    """A simulator that only runs: it records nothing and stalls nothing."""

    files: ClassVar[tuple[str, ...]]
    """What a build needs of the folder in which the program has been made."""

    @abstractmethod
    def make(self, compiled: Compiled, host: HostOptions, layout: OffChipLayout | None) -> BuiltProgram:
        """Builds the program, or takes it from the build cache."""

    def execute(
        self,
        compiled: Compiled,
        inputs: Inputs,
        *,
        host: str = "",
        memory: OffChipMemory | None = None,
    ) -> Execution:
        """As for `Backend`; `host` as for `build`, and `memory` as for `SimulatorBackend.execute`."""
        from samhw.targets.running.harness_session import HarnessSession

        start = time.perf_counter()
        chosen, layout = HostOptions.parse(host), self.layout(compiled, memory)
        program = self.make(compiled, chosen, layout)
        built = time.perf_counter()
        _log.debug("running the RTL under %s", self.label)
        with HarnessSession(compiled.design, compiled.arch, program.path, chosen, layout) as session:
            found = session.run(*inputs, buffers=True, memory=memory)
        seconds = time.perf_counter() - built
        return Execution(found.memories, found.cycles, found.region_cycles, seconds, built - start)

    def write_program(
        self, compiled: Compiled, directory: Path, host: HostOptions, layout: OffChipLayout | None
    ) -> None:
        made = self.make(compiled, host, layout).path
        for name in self.files:
            shutil.copy2(made.with_name(name), directory)


def _at_clock(memory: OffChipMemory | None, clock: float | None) -> OffChipMemory | None:
    """Raises `InputError` for a clock that nothing counts by."""
    if clock is None:
        return memory
    if not isinstance(memory, Dram | SdramMemory):
        raise InputError(
            "What simulates the RTL has any clock, unless it has a DRAM or an SDRAM; leave out --clock."
        )
    return at_clock(memory, clock)


def _write_data(addresses: AddressMap, inputs: Inputs, directory: Path, memory: OffChipMemory | None) -> None:
    """The words of the input memories, and the commands of a run (templates/harness.cpp lists them)."""
    from samhw.targets.running.port import memory_command

    (directory / "data").mkdir()
    (directory / "results").mkdir()
    commands = []
    if memory is not None and not isinstance(memory, SdramMemory):
        command, data = memory_command(memory)
        commands.append(command if data is None else f"{command} {len(data)}\n{data.decode()}".rstrip("\n"))
    for index, extent in inputs.extents.items():
        np.array([extent], dtype="<u4").tofile(directory / "data" / f"extent_{index}.bin")
        commands.append(f"load-file {addresses.extents[index]} data/extent_{index}.bin")
    for name, words in inputs.memories.items():
        file = f"data/{name}.bin"
        (directory / file).write_bytes(_stored(addresses, name, words))
        commands.append(f"{_way(addresses, name, 'load')} {file}")
    commands += ["start", "wait 100000000"]
    if addresses.host.pingpong:
        np.array([Control.SWAP], dtype="<u4").tofile(directory / "data" / "swap.bin")
        commands.append(f"load-file {Register.CONTROL.value} data/swap.bin")
    for stored in addresses.design.memories:
        if stored.role is MemoryRole.OUTPUT:
            commands.append(f"{_way(addresses, stored.name, 'read')} results/{stored.name}.bin")
    (directory / "run.txt").write_text("\n".join(commands) + "\n", encoding="utf-8")


def _stored(addresses: AddressMap, name: str, words: Words) -> bytes:
    """The words of a memory as a host stores them: whole words of 32 bits, or packed off the chip."""
    placed = addresses.layout.arrays.get(name) if addresses.layout else None
    if placed is None:
        return words.astype("<u4").tobytes()
    stored = packed(placed, words)
    return stored if addresses.sdram is None else stored + bytes(-len(stored) % 4)


def _way(addresses: AddressMap, name: str, verb: str) -> str:
    """The command that loads a memory, or reads all of it, up to the name of its file."""
    placed = addresses.layout.arrays.get(name) if addresses.layout else None
    if placed is None:
        window = addresses.windows[name]
        at, count = f"{verb}-file {window.base}", window.words
    elif addresses.sdram is None:
        at, count = f"{verb}-memory-file {placed.master} {placed.base}", placed.places * placed.place_bytes
    else:
        at, count = f"{verb}-file {addresses.sdram + placed.base}", placed.size // 4
    return at if verb == "load" else f"{at} {count}"


class VerilatorBackend(RtlBackend):
    """The RTL, run by Verilator; needs a C++ compiler."""

    name = "verilator"
    target = "verilator"
    label = "RTL"
    records_waves = True
    has_sdram = True
    key_files: ClassVar[dict[str, str]] = {"simulate": "the RTL as a program, built by Verilator"} | BESIDE

    def find_tools(self) -> None:
        from samhw.targets.building.cpp_compiler import find_cpp_compiler
        from samhw.targets.building.verilator import find_verilator

        find_verilator()
        find_cpp_compiler()

    def check_run(self, *, wave: Path | None = None, **options: Any) -> None:
        super().check_run(**options)
        if _wave_format(wave) == "fst":
            from samhw.targets.building.cpp_compiler import find_cpp_compiler
            from samhw.targets.building.verilator import check_fst_headers

            check_fst_headers(find_cpp_compiler())

    def execute(
        self,
        compiled: Compiled,
        inputs: Inputs,
        *,
        wave: Path | None = None,
        host: str = "",
        memory: OffChipMemory | None = None,
        memory_log: Path | None = None,
    ) -> Execution:
        """As for `Backend`.

        Args:
            wave: a file (.fst or .vcd) that records every signal.
            host: as for `build`.
            memory, memory_log: as for `SimulatorBackend.execute`.
        """
        # Imported here, since the simulator needs neither Amaranth nor a compiler.
        from samhw.targets.running.driver import VerilatedDesign

        start = time.perf_counter()
        design, arch, layout = compiled.design, compiled.arch, self.layout(compiled, memory)
        rtl = VerilatedDesign.build(
            design, arch, wave=_wave_format(wave), host=HostOptions.parse(host), layout=layout
        )
        built = time.perf_counter()
        _log.debug("running the RTL")
        found = rtl.run(*inputs, wave=wave, buffers=True, memory=memory, memory_log=memory_log)
        seconds = time.perf_counter() - built
        return Execution(found.memories, found.cycles, found.region_cycles, seconds, built - start)

    def write_program(
        self, compiled: Compiled, directory: Path, host: HostOptions, layout: OffChipLayout | None
    ) -> None:
        from samhw.targets.running.driver import VerilatedDesign

        design, arch = compiled.design, compiled.arch
        VerilatedDesign.build(design, arch, optimise=True, host=host, layout=layout).copy_to(directory)


def _wave_format(wave: Path | None) -> Literal["fst", "vcd"] | None:
    match wave.suffix if wave else None:
        case None:
            return None
        case ".fst":
            return "fst"
        case ".vcd":
            return "vcd"
    raise InputError(f"{wave} is no waveform file; give it the suffix .fst or .vcd.")


class IcarusBackend(ProgramBackend):
    """The Verilog, run by Icarus Verilog; needs the system's package `iverilog`."""

    name = "icarus"
    target = "icarus"
    label = "Icarus"
    files = ("simulate", "simulate.vvp", "harness.v")
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "starts simulate.vvp, the RTL with its harness, compiled by Icarus Verilog"
    } | BESIDE

    def find_tools(self) -> None:
        from samhw.targets.building.simulators import find_icarus

        find_icarus()

    def make(self, compiled: Compiled, host: HostOptions, layout: OffChipLayout | None) -> BuiltProgram:
        from samhw.targets.building.simulators import build_icarus

        return build_icarus(compiled.design, compiled.arch, host, layout)


class CxxrtlBackend(ProgramBackend):
    """The netlist, run by Yosys's CXXRTL; needs a C++ compiler."""

    name = "cxxrtl"
    target = "cxxrtl"
    label = "CXXRTL"
    files = ("simulate", "design.cpp")
    key_files: ClassVar[dict[str, str]] = {
        "simulate": "the netlist as a program, built by CXXRTL; its C++ is design.cpp"
    } | BESIDE

    def find_tools(self) -> None:
        from samhw.targets.building.cpp_compiler import find_cpp_compiler

        find_cpp_compiler()

    def make(self, compiled: Compiled, host: HostOptions, layout: OffChipLayout | None) -> BuiltProgram:
        from samhw.targets.building.simulators import build_cxxrtl

        return build_cxxrtl(compiled.design, compiled.arch, host, layout)
