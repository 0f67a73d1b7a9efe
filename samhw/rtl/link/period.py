"""What is known only when a design has been placed and routed: how long a bit takes at the clock that it runs
at. It stands in a block memory, whose contents are a part of the bitstream that can be rewritten."""

import random

from amaranth.hdl import Elaboratable, Module, Shape, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import Out

from samhw.rtl.units.unit import delayed

__all__ = ["PERIOD", "ROM_DEPTH", "ROM_WIDTH", "PeriodRom", "rom_contents"]

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
