"""A UART: bytes from a line and to one (docs/link.md, "Bytes")."""

import random

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Shape, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.rtl.units.unit import delayed

__all__ = [
    "PERIOD",
    "ROM_DEPTH",
    "ROM_WIDTH",
    "PeriodRom",
    "Receiver",
    "Transmitter",
    "bit_period",
    "rom_contents",
]

# What is known only when a design has been placed and routed: how long a bit takes at the clock that it runs
# at. It stands in a block memory, whose contents are a part of the bitstream that can be rewritten.


PERIOD = Shape(24)
"""Of a bit, in 1/256 cycles."""

ROM_WIDTH, ROM_DEPTH = 36, 512
"""All of a block memory of an ECP5, so that nothing in the bitstream is left to the tools."""


def rom_contents(period: int) -> list[int]:
    """The words of the memory: the period is the last, and the others are noise, always the same, by which
    the memory is found in a bitstream and which no tool can make smaller."""
    noise = random.Random(0)
    return [*(noise.getrandbits(ROM_WIDTH) for _ in range(ROM_DEPTH - 1)), period]


class PeriodRom(wiring.Component):
    """Gives the period after a reset, which takes as many cycles as the memory has words.

    Args:
        period: of a bit, as of `bit_period`.

    Members:
        period: of a bit, once `ready`.
        ready: the period is there, and stays.
    """

    def __init__(self, period: int):
        self._words = rom_contents(period)
        super().__init__({"period": Out(PERIOD), "ready": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        style = {"rom_style": "block", "ram_style": "block"}
        m.submodules.rom = rom = memory.Memory(
            shape=ROM_WIDTH, depth=ROM_DEPTH, init=self._words, attrs=style
        )
        read = rom.read_port()
        at = Signal(range(ROM_DEPTH))
        last = Signal()
        read_last = Signal()
        # Of the two registers, one belongs to the memory and the other may lie where the period is used.
        m.d.comb += [read.addr.eq(at), read.en.eq(1), self.period.eq(delayed(m, read.data, 2))]
        m.d.sync += [last.eq(at == ROM_DEPTH - 1), read_last.eq(last), self.ready.eq(read_last)]
        with m.If(at != ROM_DEPTH - 1):
            m.d.sync += at.eq(at + 1)
        return m


_LEAST_PERIOD = 4
"""Cycles that a bit takes at least: the receiver finds its edges within one."""

_FRACTION = 8
"""Bits of a cycle in which a period is counted."""

_ONE = 1 << _FRACTION
_BITS = 10


def bit_period(clock: float, baud: int) -> int:
    """Cycles of a bit, in 1/256; raises `InputError` for a clock that is too slow, or so fast that they
    cannot be counted."""
    if clock < _LEAST_PERIOD * baud:
        raise InputError(
            f"{baud:,} baud need a clock of {_LEAST_PERIOD * baud / 1e6:g} MHz, but it has {clock / 1e6:g}; "
            "give a shorter --clock or a lower --baud."
        )
    period = round(clock / baud * _ONE)
    if period >> PERIOD.width:
        raise InputError(
            f"A clock of {clock / 1e6:g} MHz is too fast for {baud:,} baud; give --baud "
            f"{-int(-clock * _ONE // (1 << PERIOD.width)):,} or more."
        )
    return period


class Receiver(wiring.Component):
    """Each byte for a cycle, without a way to hold it back.

    Members:
        period: of a bit, as of `bit_period`; stays.
        line: the line, of no clock.
        data, valid: in this cycle, a byte.
        broken: in this cycle, a byte without its stop bit.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "period": In(PERIOD),
                "line": In(1, init=1),
                "data": Out(8),
                "valid": Out(1),
                "broken": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.line, line, init=1)
        timer = Signal(PERIOD.width + 1)
        bits = Signal(_BITS - 1)
        left = Signal(range(_BITS + 1))
        sample = Signal()  # the timer is below _ONE; known a cycle ahead, since it is much to look at
        was_high = Signal(init=1)
        m.d.sync += [self.valid.eq(0), self.broken.eq(0), was_high.eq(line)]
        with m.If(left == 0):
            with m.If(was_high & ~line):
                # This cycle counts, and the edge was before it.
                m.d.sync += [left.eq(_BITS), timer.eq((self.period >> 1) - _ONE)]
        with m.Elif(~sample):
            m.d.sync += [timer.eq(timer - _ONE), sample.eq(timer < 2 * _ONE)]
        with m.Else():
            m.d.sync += [
                timer.eq(timer + self.period - _ONE),
                sample.eq(0),
                bits.eq(Cat(bits[1:], line)),
                left.eq(left - 1),
            ]
            with m.If((left == _BITS) & line):  # A spike.
                m.d.sync += left.eq(0)
            with m.If(left == 1):
                m.d.sync += [
                    self.data.eq(bits[1:]),
                    self.valid.eq(line),
                    self.broken.eq(~line),
                ]
        return m


class Transmitter(wiring.Component):
    """Sends bytes.

    Members:
        period: of a bit, as of `bit_period`; stays.
        i: the bytes.
        line: the line.
    """

    def __init__(self) -> None:
        super().__init__({"period": In(PERIOD), "i": In(stream.Signature(8)), "line": Out(1, init=1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        timer = Signal(PERIOD.width + 1)
        bits = Signal(_BITS, init=-1)
        left = Signal(range(_BITS + 1))
        due = Signal()  # the timer is below _ONE; known a cycle ahead
        m.d.comb += self.i.ready.eq(left == 0)
        m.d.sync += self.line.eq(Mux(left == 0, 1, bits[0]))
        with m.If(left == 0):
            with m.If(self.i.valid):
                m.d.sync += [bits.eq(Cat(Const(0, 1), self.i.payload, Const(1, 1))), left.eq(_BITS)]
                # What is left of a fraction of a cycle stays in the timer, within a byte.
                m.d.sync += timer.eq(self.period - _ONE)
        with m.Elif(due):
            m.d.sync += [timer.eq(timer + self.period - _ONE), bits.eq(bits >> 1), left.eq(left - 1)]
            m.d.sync += due.eq(0)
        with m.Else():
            m.d.sync += [timer.eq(timer - _ONE), due.eq(timer < 2 * _ONE)]
        return m
