"""A board under Verilator, with its whole top, from the pin of its clock to those of its UART."""

from collections.abc import Mapping

from samhw.graph.off_chip_memory import OffChipMemory, log_head
from samhw.graph.off_chip_numbers import SdramChip
from samhw.targets.boards import SDRAM_MODEL
from samhw.targets.building.boards.netlist import TOP, BoardDesign
from samhw.targets.building.build_cache import BuiltProgram
from samhw.targets.building.simulators import TEMPLATES, rendered
from samhw.targets.building.verilator import build_program
from samhw.targets.link import Transport
from samhw.targets.running.port import Answering

__all__ = ["EmulatedLine", "build_emulator"]


def build_emulator(on_board: BoardDesign, netlist: str | None = None) -> BuiltProgram:
    """The program that emulates a board.

    Args:
        netlist: Verilog of the board's top, with the cells in it that its family has no models of; by default
            Amaranth's.

    Raises `InputError` where a tool is missing, and for a design that cannot be on the board.
    """
    if netlist is None:
        netlist = (on_board.netlist(verilog=True) / f"{TOP}.debug.v").read_text()
    netlist += on_board.board.family.cells.read_text()
    # Verilator writes a second underscore in a row as its code.
    pins = {pin: name.replace("__", "___05F") for pin, name in on_board.pins.items()}
    top, beats = TOP, 0
    if on_board.layout is not None and (chip := on_board.layout.chip) is not None:
        netlist += on_board.controller + SDRAM_MODEL.read_text() + _with_chip(on_board.pins, chip)
        top, beats, pins = _WITH_CHIP, on_board.layout.ports.beats, {pin: pin for pin in pins}
    return build_program(
        netlist,
        rendered("board_glue.cpp.j2", clock=on_board.clock, baud=on_board.baud, beats=beats, **pins),
        harness=TEMPLATES / "board.cpp",
        top=top,
        # What lies in an SDRAM takes many cycles to be loaded.
        optimise=beats > 0,
    )


_WITH_CHIP = "samhw_board"


def _with_chip(pins: Mapping[str, str], chip: SdramChip) -> str:
    """Verilog of a board with its SDRAM beside the FPGA."""
    wires = {"a": chip.row_bits, "ba": chip.bank_bits, "dqm": chip.word_bytes, "dq": 8 * chip.word_bytes}
    wires |= dict.fromkeys(("clk", "clk_en", "cs", "ras", "cas", "we"), 1)
    numbers = (chip.cycle_ps, chip.bank_bits, chip.row_bits, chip.column_bits, chip.word_bytes, chip.latency)
    order = ("clk", "clk_en", "cs", "ras", "cas", "we", "ba", "a", "dqm", "dq")
    ports = [f".{name}({pin})" for pin, name in pins.items()]
    ports += [f".sdram_0__{name}__io(sdram_{name})" for name in wires]
    lines = [f"module {_WITH_CHIP}(input clk, rx, output tx);"]
    lines += [f"  wire [{bits - 1}:0] sdram_{name};" for name, bits in wires.items()]
    lines += [f"  {TOP} fpga ({', '.join(ports)});"]
    lines += [f"  samhw_sdram #({', '.join(map(str, numbers))}) chip ("]
    lines += [f"    {', '.join(f'sdram_{name}' for name in order)}", "  );", "endmodule", ""]
    return "\n".join(lines)


_SDRAM_LATENCY = 500e-6
"""Of a request to an SDRAM, which takes 200 µs to be awake, and then some 20 cycles for each word."""


class EmulatedLine(Answering, Transport):
    """A cable to an emulated board. Its seconds are those of the board. `netlist`: as of `build_emulator`."""

    latency = 100e-6
    """Of which a request of many words takes some ten cycles for each."""

    def __init__(self, on_board: BoardDesign, netlist: str | None = None):
        self.name = f"the emulated {on_board.board.name}"
        self.baud = on_board.baud
        self._clock = on_board.clock
        if on_board.layout is not None:
            self.latency = _SDRAM_LATENCY
        self.cycles = 0
        """Of the board's clock, so far."""
        super().__init__(build_emulator(on_board, netlist).path)

    def send(self, data: bytes) -> None:
        self.ask("send", data)

    def receive(self, timeout: float) -> bytes:
        answer, data = self.ask(f"receive {round(timeout * self._clock)}")
        self.cycles = answer["cycles"]
        return data

    def discard(self) -> None:
        while self.receive(self.latency):
            pass

    def memory_log(self, memory: OffChipMemory) -> str:
        """What the SDRAM did in the last run, as docs/memory.md says."""
        return f"{log_head(memory)}\n{self.ask('memory-log')[1].decode()}"

    def configure(self) -> None:
        """Configures the board again, as a power failure or somebody's loader would."""
        self.ask("configure")
