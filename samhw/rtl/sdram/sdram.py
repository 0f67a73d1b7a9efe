"""A chip with its controller: makes it ready, and passes commands to its pins (docs/memory.md, "SDRAM")."""

import importlib.metadata
import importlib.util
import re
from functools import cache
from typing import Any

from amaranth.hdl import (
    Array,
    Cat,
    ClockSignal,
    Const,
    Elaboratable,
    Instance,
    Module,
    Mux,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph.sdram import SdramChip
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.host_port import FarSignature
from samhw.rtl.sdram.native import HostWords, LineBursts, NativeSignature

__all__ = ["CONTROLLER", "READ_LATENCY", "PinsSignature", "Sdram", "controller_verilog", "controller_version"]

# The controller: LiteDRAM's, made when it is needed, from the package that pip installs. Neither its PHY nor
# its software is taken: the pins and what makes a chip ready are ours.


CONTROLLER = "samhw_sdram_controller"
"""The name of its module."""

READ_LATENCY = 1
"""Cycles that the registers at the pins take beyond those of the chip: a command leaves in the cycle after
the controller gives it, and the chip's clock is early enough for its word to be back in time."""

PORTS = 2
"""The master's, and the host's."""

_PACKAGES = ("litedram", "litex", "migen")

_HEAD = re.compile(r"^(?:(?://.*|`timescale.*)?\n)*")
"""Comments with the date, and units of time, which no other module has."""

_BLOCK = re.compile(r"^always @\(\*\) begin\n(?:.*\n)*?end\n", re.MULTILINE)
_ASSIGNED = re.compile(r"^( +[\w\[\]:]+) <= ", re.MULTILINE)


def controller_version() -> str:
    """That of the packages.

    Raises:
        InputError: if one is not installed.
    """
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise InputError(
                f"{package} was not found, of which the SDRAM's controller is made; install it with pip "
                "install 'samhw[rtl,fpga]'."
            )
    return " ".join(f"{package} {importlib.metadata.version(package)}" for package in _PACKAGES)


@cache
def controller_verilog(chip: SdramChip) -> str:
    """The controller of a chip, with `PORTS` native ports `port<n>_..` and the commands `dfi_..`; raises as
    `controller_version`."""
    controller_version()
    from litedram.common import PhySettings
    from litedram.core.controller import ControllerSettings, LiteDRAMController
    from litedram.core.crossbar import LiteDRAMCrossbar
    from litedram.modules import __dict__ as modules
    from litex.gen.fhdl import verilog
    from migen import ClockDomain, Module

    clock = 1e12 / chip.cycle_ps
    figures = modules[chip.figures](clock, "1:1")
    # LiteDRAM rounds the time up.
    figures.timing_settings.tREFI -= 1
    bits = 8 * chip.word_bytes
    pins = PhySettings(
        phytype="samhw",
        memtype="SDR",
        databits=bits,
        dfi_databits=bits,
        nphases=1,
        rdphase=0,
        wrphase=0,
        cl=chip.latency,
        read_latency=chip.latency + READ_LATENCY,
        write_latency=0,
    )
    m = Module()
    m.clock_domains.sys = sys = ClockDomain("sys")
    m.submodules.controller = controller = LiteDRAMController(
        pins, figures.geom_settings, figures.timing_settings, clock, ControllerSettings()
    )
    m.submodules.crossbar = crossbar = LiteDRAMCrossbar(controller.interface)
    members: list[tuple[str, Any]] = [(f"dfi_{name}", getattr(controller.dfi.p0, name)) for name in _DFI]
    for number in range(PORTS):
        port = crossbar.get_port()
        for channel, names in _PORT.items():
            part = getattr(port, channel)
            members += [(f"port{number}_{channel}_{name}", getattr(part, name)) for name in names]
    for name, signal in members:
        signal.name_override = name
    ports = {sys.clk, sys.rst, *(signal for _, signal in members)}
    text = str(verilog.convert(m, ports, name=CONTROLLER, regular_comb=False))
    return f"// The controller of an SDRAM, by {controller_version()}.\n" + _blocking(_HEAD.sub("", text))


def _blocking(text: str) -> str:
    """The text with blocking assignments where no clock is. Each such block assigns one variable, so that
    nothing else changes; simulators and synthesis ask for them."""
    return _BLOCK.sub(lambda block: _ASSIGNED.sub(r"\1 = ", block[0]), text)


_DFI = (
    *("address", "bank", "cs_n", "ras_n", "cas_n", "we_n"),
    *("wrdata", "wrdata_en", "wrdata_mask", "rddata_en", "rddata", "rddata_valid"),
)
_PORT = {
    "cmd": ("valid", "ready", "we", "addr"),
    "wdata": ("valid", "ready", "data", "we"),
    "rdata": ("valid", "data"),
}


_WAKING_PS, _ENDING_PS, _PRECHARGING_PS, _REFRESHING_PS = 200_000_000, 100_000, 20_000, 70_000
"""Until a chip takes commands, until it has ended any, and what two of them take: the longest of those in the
data sheets."""
_SETTING = 2
"""Clocks that a mode takes to be set."""
_REFRESHES = 8
_PRECHARGE_ALL = 1 << 10

_NOP, _MODE, _REFRESH, _PRECHARGE = 0b111, 0b000, 0b001, 0b010
"""Commands, by /RAS, /CAS and /WE from the highest bit on."""


class PinsSignature(wiring.Signature):
    """The pins of a chip, a cycle before a register sends them, and seen from the controller.

    Members:
        cke, cs_n, ras_n, cas_n, we_n, ba, a, dqm: as the chip has them.
        dq_o, dq_oe: the data that are written; the register of each is that of its pin.
        dq_i: the data at the pins, through a register.
    """

    def __init__(self, chip: SdramChip):
        widths = dict.fromkeys(("cke", "cs_n", "ras_n", "cas_n", "we_n", "dq_oe"), 1)
        widths |= {"ba": chip.bank_bits, "a": chip.row_bits, "dqm": chip.word_bytes}
        bits = 8 * chip.word_bytes
        members = {name: Out(width) for name, width in widths.items()}
        super().__init__({**members, "dq_o": Out(bits), "dq_i": In(bits)})


class Initialiser(wiring.Component):
    """Makes a chip ready: it waits, closes all rows, refreshes, and sets the mode. After a later reset it
    waits for a moment only, and the chip keeps what it holds.

    Members:
        command, a: for the chip, as `_NOP` and the others.
        ready: the chip takes commands of the controller.
    """

    command: Signal
    a: Signal
    ready: Signal

    def __init__(self, chip: SdramChip):
        def cycles(ps: int) -> int:
            return -(-ps // chip.cycle_ps)

        refresh = (_REFRESH, 0, cycles(_REFRESHING_PS))
        # Bursts of one word.
        mode = (_MODE, chip.latency << 4, _SETTING)
        self.steps = [
            (_NOP, 0, cycles(_ENDING_PS)),
            (_PRECHARGE, _PRECHARGE_ALL, cycles(_PRECHARGING_PS)),
            *[refresh] * _REFRESHES,
            mode,
        ]
        self.waking = cycles(_WAKING_PS)
        super().__init__({"command": Out(3, init=_NOP), "a": Out(chip.row_bits), "ready": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        step = Signal(range(len(self.steps) + 1))
        left = Signal(range(self.waking + 1))
        awake = Signal(reset_less=True)
        commands, addresses, cycles = (Array(column) for column in zip(*self.steps, strict=True))
        m.d.sync += self.command.eq(_NOP)
        with m.If(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.Elif(step == len(self.steps)):
            m.d.sync += [self.ready.eq(1), awake.eq(1)]
        with m.Else():
            m.d.sync += [
                self.command.eq(commands[step]),
                self.a.eq(addresses[step]),
                left.eq(Mux((step == 0) & ~awake, self.waking, cycles[step])),
                step.eq(step + 1),
            ]
        return m


class Sdram(wiring.Component):
    """The memory of a master and of a host, at the pins of a chip. Until the chip is ready, both wait.

    Args:
        axi, line: of the master, as of `LineBursts`.

    Members:
        axi: to the master.
        host: to the host's port.
        pins: of the chip.
    """

    axi: wiring.PureInterface
    host: wiring.PureInterface
    pins: wiring.PureInterface

    def __init__(self, chip: SdramChip, axi: Axi4Signature, line: int, host: FarSignature):
        self.chip = chip
        self.native = NativeSignature(chip.address_bits, chip.word_bytes)
        self.bursts = LineBursts(axi, line, self.native)
        self.words = HostWords(host, self.native)
        super().__init__({"axi": Out(axi), "host": In(host), "pins": Out(PinsSignature(chip))})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.initialiser = first = Initialiser(self.chip)
        m.submodules.bursts, m.submodules.words = self.bursts, self.words
        wiring.connect(m, wiring.flipped(self.axi), self.bursts.axi)
        wiring.connect(m, wiring.flipped(self.host), self.words.host)
        pins, width = self.pins, 8 * self.chip.word_bytes
        shapes = {"address": len(pins.a), "bank": len(pins.ba), "wrdata": width}
        shapes |= {"wrdata_mask": self.chip.word_bytes}
        names = ("cs_n", "ras_n", "cas_n", "we_n", "wrdata_en", "rddata_en")
        dfi = {name: Signal(shapes.get(name, 1), name=f"dfi_{name}") for name in (*names, *shapes)}
        # A word that was asked for in cycle t is at the pins' registers in t + all that lies between.
        asked = Signal(self.chip.latency + READ_LATENCY)
        m.d.sync += asked.eq(Cat(dfi["rddata_en"], asked))
        m.submodules.controller = Instance(
            CONTROLLER,
            i_sys_clk=ClockSignal(),
            # It begins with what the chip is after it has been made ready.
            i_sys_rst=ResetSignal() | ~first.ready,
            i_dfi_rddata=pins.dq_i,
            i_dfi_rddata_valid=asked[-1],
            **{f"o_dfi_{name}": signal for name, signal in dfi.items()},
            **self._ports(m, first.ready),
        )
        command = Cat(dfi["we_n"], dfi["cas_n"], dfi["ras_n"])
        m.d.comb += [
            pins.cke.eq(1),
            pins.cs_n.eq(first.ready & dfi["cs_n"]),
            Cat(pins.we_n, pins.cas_n, pins.ras_n).eq(Mux(first.ready, command, first.command)),
            pins.a.eq(Mux(first.ready, dfi["address"], first.a)),
            pins.ba.eq(Mux(first.ready, dfi["bank"], 0)),
            pins.dqm.eq(Mux(first.ready, dfi["wrdata_mask"] & dfi["wrdata_en"].replicate(width // 8), -1)),
            pins.dq_o.eq(dfi["wrdata"]),
            pins.dq_oe.eq(first.ready & dfi["wrdata_en"]),
        ]
        return m

    def _ports(self, m: Module, ready: Signal) -> dict[str, Value]:
        """The ports of the controller, which nobody reaches before the chip is ready."""
        connections: dict[str, Value] = {}
        for number, source in enumerate((self.bursts.native, self.words.native)):
            asks, taken = Signal(name=f"asks{number}"), Signal(name=f"taken{number}")
            m.d.comb += [asks.eq(source.cmd_valid & ready), source.cmd_ready.eq(taken & ready)]
            prefix = f"port{number}_"
            connections |= {
                f"i_{prefix}cmd_valid": asks,
                f"o_{prefix}cmd_ready": taken,
                f"i_{prefix}cmd_we": source.cmd_we,
                f"i_{prefix}cmd_addr": source.cmd_addr,
                f"i_{prefix}wdata_valid": Const(1),
                f"o_{prefix}wdata_ready": source.wdata_ready,
                f"i_{prefix}wdata_data": source.wdata_data,
                f"i_{prefix}wdata_we": source.wdata_we,
                f"o_{prefix}rdata_valid": source.rdata_valid,
                f"o_{prefix}rdata_data": source.rdata_data,
            }
        return connections
