"""What a board is to samhw, and the whole of what is configured into it; boards with FPGAs of one family, and
boards from their files."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from amaranth.build import Platform
from amaranth.hdl import (
    Cat,
    ClockDomain,
    ClockSignal,
    Const,
    DomainRenamer,
    Elaboratable,
    Instance,
    Module,
    ResetSignal,
    Signal,
    Value,
    ValueLike,
)
from amaranth.lib import io, wiring
from amaranth.lib.cdc import ResetSynchronizer

from samhw.cost import Device
from samhw.errors import InputError
from samhw.graph.off_chip_numbers import SdramChip
from samhw.rtl import Top
from samhw.rtl.host_port import AxiLiteSignature
from samhw.rtl.link import LinkMaster, bit_period
from samhw.rtl.top import SDRAM
from samhw.script import Script
from samhw.targets.boards import CELLS, board_file

__all__ = ["CELLS", "MT48LC16M16", "Board", "BoardTop", "Family", "Settings", "find_board", "read_board"]


MT48LC16M16 = SdramChip()
"""The chip that a ULX3S is sold with, or one that is no slower."""


@dataclass(frozen=True)
class Settings:
    """What makes a frequency: parameters of the PLL's cell."""

    frequency: float
    parameters: Mapping[str, float]


class Family(ABC):
    """A family of FPGAs.

    Attributes:
        block_bits: of a block memory, as `Device` counts them.
        cells: models of those of its cells that board tops use.
        bitstreams: its bitstreams are made by tools that pip installs.
    """

    block_bits: int
    cells: Path
    bitstreams: bool

    @abstractmethod
    def settings(self, source: float, wanted: float) -> Settings:
        """How a PLL makes, of `source` Hz, the greatest frequency up to `wanted`; raises `InputError` if it
        makes none."""

    @abstractmethod
    def pll(
        self, settings: Settings, source: Value, clock: Value, locked: Value, late: Value | None = None
    ) -> Elaboratable:
        """The PLL: drives `clock` and, when that is steady, `locked`; and `late`, which follows the clock by
        a quarter of its period, and which only a board with an SDRAM asks for."""


@dataclass(frozen=True)
class Board:
    """A board: where its pins are, what makes its clock, and how it is loaded.

    A board has a clock of `platform.default_clk`, a UART (`uart`, 0), and perhaps LEDs (`led`).
    """

    name: str
    """What messages call it: that of its file."""
    title: str
    """Its name in prose."""
    platform: Callable[[], Platform]
    """Makes its platform, of amaranth-boards."""
    family: Family
    """Of its FPGA."""
    part: Device
    clock: float
    """Frequency in Hz for which designs are placed and routed, and which they have where nobody asks for
    another and no tool here says what they could have: in emulation, and in a vendor's project."""
    baud: int
    """Of its link, unless somebody asks for another."""
    loader: str
    """What openFPGALoader calls the board."""
    serial: str
    """Which of the ports that appear with its cable is the link."""
    sdram: SdramChip | None = None
    """Its SDRAM (`sdram`, 0), if it has one."""
    high: tuple[tuple[str, str], ...] = ()
    """Pins that the FPGA has to hold high: resources, each with the name of the part of it."""
    file: Path = Path()
    """Where it is described, as whoever reads the file says."""

    @property
    def input_clock(self) -> float:
        """Frequency of the board's own clock, in Hz."""
        platform = self.platform()
        return float(platform.lookup(platform.default_clk).clock.frequency)

    def frequency(self, wanted: float) -> float:
        """The greatest frequency up to `wanted`, in Hz, that its PLL makes; raises `InputError` if it makes
        none."""
        return self.family.settings(self.input_clock, wanted).frequency


class BoardTop(Elaboratable):
    """A design on a board: the clock that the PLL makes, the link, and the design.

    The LEDs show, from the first: a run is under way, the last one is done, it ended with an error, a request
    is under way, the clock is there.

    Args:
        top: the design.
        clock: its frequency in Hz, as of `Board.frequency`.
        baud: of the link.
        build: what the link says of the build (docs/link.md).
        observed: with an SDRAM, a cell shows the pins of its master to an emulator.

    Raises:
        InputError: for a baud rate that the clock cannot serve.
    """

    def __init__(
        self, board: Board, top: Top, *, clock: float, baud: int, build: int, observed: bool = False
    ):
        self.observed = observed
        self.board = board
        self.top = top
        self.clock = clock
        self.link = LinkMaster(bit_period(clock, baud), build, top.map.address_bits)

    def elaborate(self, platform: Any) -> Elaboratable:
        m = Module()
        board = self.board
        clock = platform.request(platform.default_clk, dir="-")
        m.submodules.clock_pin = clock_pin = io.Buffer("i", clock)
        m.domains.sync = ClockDomain()
        settings = board.family.settings(board.input_clock, self.clock)
        locked = Signal()
        late = Signal() if self.top.sdram else None
        m.submodules.pll = board.family.pll(settings, clock_pin.i, ClockSignal(), locked, late)
        m.submodules.reset = ResetSynchronizer(~locked, domain="sync")

        m.submodules.link = link = self.link
        # Its reset comes straight from a register, since it has a long way to nearly everything.
        m.domains.design = ClockDomain()
        reset = Signal(init=1)
        m.d.sync += reset.eq(link.reset)
        m.d.comb += [ClockSignal("design").eq(ClockSignal()), ResetSignal("design").eq(reset)]
        m.submodules.design = DomainRenamer("design")(self.top)
        top = self.top
        for name, member in AxiLiteSignature(top.map.address_bits).members.items():
            theirs, ours = getattr(top, f"s_axi_{name}"), getattr(link.axi, name)
            m.d.comb += theirs.eq(ours) if member.flow is wiring.In else ours.eq(theirs)

        uart = platform.request("uart", 0, dir="-")
        m.submodules.rx_pin = rx_pin = io.Buffer("i", uart.rx)
        m.submodules.tx_pin = tx_pin = io.Buffer("o", uart.tx)
        m.d.comb += [link.rx.eq(rx_pin.i), tx_pin.o.eq(link.tx)]
        for resource, name in board.high:
            m.submodules[f"{resource}_{name}_pin"] = held = io.Buffer(
                "o", getattr(platform.request(resource, 0, dir="-"), name)
            )
            m.d.comb += held.o.eq(1)
        if late is not None:
            self._sdram(m, platform, late)
        self._lights(m, platform, [top.running, top.done, top.error, link.busy, ~link.reset])
        return m

    def _sdram(self, m: Module, platform: Any, late: Signal) -> None:
        """The pins of the SDRAM, with a register at each (docs/memory.md, "SDRAM")."""
        resource, top = platform.request("sdram", 0, dir="-"), self.top
        m.domains.sdram = ClockDomain(reset_less=True)
        m.d.comb += ClockSignal("sdram").eq(late)
        m.submodules.sdram_clk_pin = clock = io.DDRBuffer("o", resource.clk, o_domain="sdram")
        m.d.comb += [clock.o[0].eq(1), clock.o[1].eq(0)]
        pins: dict[str, Value] = {name: getattr(top, SDRAM + name) for name in ("ba", "a", "dqm")}
        pins |= {name: ~getattr(top, f"{SDRAM}{name}_n") for name in ("cs", "ras", "cas", "we")}
        pins |= {"clk_en": top.sdram_cke}
        for name, value in pins.items():
            pin = io.FFBuffer("o", getattr(resource, name), o_domain="design")
            m.submodules[f"sdram_{name}_pin"] = pin
            m.d.comb += pin.o.eq(value)
        # Each pin has a register of its own for its direction.
        m.submodules.sdram_dq_pin = data = io.FFBuffer(
            "io", resource.dq, i_domain="design", o_domain="design"
        )
        m.d.comb += [data.o.eq(top.sdram_dq_o), data.oe.eq(top.sdram_dq_oe), top.sdram_dq_i.eq(data.i)]
        if self.observed:
            m.submodules.observer = Instance(
                "samhw_observer",
                i_clk=ClockSignal("design"),
                i_running=top.running,
                i_cycle=top.cycle,
                i_ids=Cat(_byte(getattr(top, f"m_axi0_{name}")) for name in ("awid", "arid", "rid", "bid")),
                i_flags=Cat(getattr(top, f"m_axi0_{name}") for name in OBSERVED),
                i_awaddr=top.m_axi0_awaddr,
                i_araddr=top.m_axi0_araddr,
            )

    def _lights(self, m: Module, platform: Any, lights: Sequence[ValueLike]) -> None:
        for number, light in enumerate(lights):
            if ("led", number) in platform.resources:
                led = platform.request("led", number, dir="-")
                m.submodules[f"led{number}_pin"] = pin = io.Buffer("o", led)
                m.d.comb += pin.o.eq(light)


OBSERVED = (
    *("arvalid", "arready", "awvalid", "awready", "wvalid", "wready"),
    *("rvalid", "rlast", "bvalid"),
)
"""What an emulator sees of a master beside addresses and IDs, from the lowest bit on."""


def _byte(value: Value) -> Value:
    return Cat(value, Const(0, 8 - len(value)))


def find_board(name: str) -> Board:
    """The board of a name, or of a user's own file.

    Raises `InputError` if there is none, and for a file that does not describe one.
    """
    return read_board(board_file(name).resolve())


@cache
def read_board(path: Path) -> Board:
    """The `BOARD` that a file describes. The file is run (`Script`).

    Raises `InputError` as `find_board` does.
    """
    found = Script(str(path)).objects().get("BOARD")
    if not isinstance(found, Board):
        raise InputError(
            f"The file {path} describes no board; give it a line BOARD = Board(..), as boards/ulx3s.py has."
        )
    return replace(found, file=path)
