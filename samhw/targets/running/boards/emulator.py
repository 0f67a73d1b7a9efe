"""A board under Verilator, with its whole top, from the pin of its clock to those of its UART."""

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
    # Verilator writes a second underscore in a row as its code.
    pins = {pin: name.replace("__", "___05F") for pin, name in on_board.pins.items()}
    return build_program(
        netlist + on_board.board.family.cells.read_text(),
        rendered("board_glue.cpp.j2", clock=on_board.clock, baud=on_board.baud, **pins),
        harness=TEMPLATES / "board.cpp",
        top=TOP,
    )


class EmulatedLine(Answering, Transport):
    """A cable to an emulated board. Its seconds are those of the board. `netlist`: as of `build_emulator`."""

    latency = 100e-6
    """Of which a request of many words takes some ten cycles for each."""

    def __init__(self, on_board: BoardDesign, netlist: str | None = None):
        self.name = f"the emulated {on_board.board.name}"
        self.baud = on_board.baud
        self._clock = on_board.clock
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

    def configure(self) -> None:
        """Configures the board again, as a power failure or somebody's loader would."""
        self.ask("configure")
