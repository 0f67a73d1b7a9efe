"""Requests, kept until their CRC is found right (docs/link.md, "Requests")."""

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.link.frames import Deframer
from samhw.rtl.units.unit import delayed

__all__ = ["HEADER", "MOST_WORDS", "Requests"]

MOST_WORDS = 511
"""Of a request. The CRC lies after them in the memory, which therefore has 512 words: one block of an
ECP5."""

_HEADER = 8
_CRC = 4
_TOO_LONG = _HEADER + 4 * MOST_WORDS + _CRC + 1


HEADER = data.StructLayout({"number": 8, "command": 8, "count": 16, "address": 32})
"""What a request begins with."""


class Requests(wiring.Component):
    """Takes requests from bytes of the line; while one is under way, it drops what comes.

    Members:
        data, valid, broken: as of `Receiver`.
        busy: a request is under way, from the cycle after `arrived` on.
        arrived: a whole request came in the last cycle; `header`, `words` and the memory keep it while
            `busy`.
        header: its header.
        words: how many words it has; all ones if that is not a whole number.
        at: a word of it,
        word: which is here two cycles later.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "data": In(8),
                "valid": In(1),
                "broken": In(1),
                "busy": In(1),
                "arrived": Out(1),
                "header": Out(HEADER),
                "words": Out(16),
                "at": In(range(MOST_WORDS + 1)),
                "word": Out(32),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.deframer = deframer = Deframer()
        m.submodules.stored = stored = memory.Memory(shape=32, depth=MOST_WORDS + 1, init=[])
        write, read = stored.write_port(), stored.read_port()
        length = Signal(range(_TOO_LONG + 1))
        word = Signal(32)
        dropped = Signal(init=1)
        """A part of this frame was dropped."""
        held = self.busy | self.arrived
        take = deframer.take & ~held
        m.d.comb += [
            deframer.data.eq(self.data),
            deframer.valid.eq(self.valid),
            deframer.broken.eq(self.broken),
            write.addr.eq((length - _HEADER)[2:]),
            write.data.eq(Cat(word[8:], deframer.content)),
            write.en.eq(take & (length >= _HEADER) & (length[:2] == 3)),
            read.addr.eq(self.at),
            # Never in a cycle with a write. Synthesis sees that, and needs nothing for what would come of it.
            read.en.eq(self.busy),
        ]
        # From a register, since it comes late in its cycle, straight from a block memory.
        m.d.comb += self.word.eq(delayed(m, read.data))
        with m.If(take):
            m.d.sync += word.eq(write.data)
            with m.If(length < _HEADER):
                m.d.sync += self.header.eq(Cat(self.header.as_value()[8:], deframer.content))
            with m.If(length != _TOO_LONG):
                m.d.sync += length.eq(length + 1)
        with m.If(held):
            m.d.sync += dropped.eq(1)
        with m.If(deframer.end):
            m.d.sync += [length.eq(0), dropped.eq(held)]
        whole = Signal()
        m.d.sync += whole.eq((length >= _HEADER + _CRC) & (length != _TOO_LONG))
        # What a request begins waits for the next cycle: its last checks take most of this one.
        m.d.sync += self.arrived.eq(deframer.end & deframer.good & whole & ~dropped & ~held)
        with m.If(deframer.end & ~held):
            m.d.sync += self.words.eq((length - _HEADER - _CRC) >> 2)
            with m.If(length[:2] != 0):
                m.d.sync += self.words.eq(-1)
        return m
