"""The CRC-32 of frames (docs/link.md), a bit in each cycle: a line takes many more for a byte."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["Crc"]

_POLYNOMIAL = 0xEDB88320
"""That of Ethernet. The lowest bit of a byte comes first, and so the highest power stands lowest."""

_ALL_ONES = 0xFFFFFFFF

_REMAINDER = 0xDEBB20E3
"""What bytes leave that have their own CRC at their end."""

_BITS = 8


class Crc(wiring.Component):
    """Members:

    start: the next byte is the first one.
    data, valid: in this cycle, a byte; not while `busy`.
    busy: the last byte is not counted in yet. For eight cycles after it.
    crc: that of the bytes.
    matches: the last four of the bytes are the CRC of the others; known a cycle after `busy`.
    """

    start: Signal
    data: Signal
    valid: Signal
    busy: Signal
    crc: Signal
    matches: Signal

    def __init__(self) -> None:
        super().__init__(
            {
                "start": In(1),
                "data": In(8),
                "valid": In(1),
                "busy": Out(1),
                "crc": Out(32),
                "matches": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        remainder = Signal(32, init=_ALL_ONES)
        left = Signal(range(_BITS))
        m.d.comb += self.crc.eq(~remainder)
        m.d.sync += self.matches.eq(remainder == _REMAINDER)
        with m.If(self.start):
            m.d.sync += [remainder.eq(_ALL_ONES), self.busy.eq(0)]
        with m.Elif(self.valid):
            m.d.sync += [remainder[:8].eq(remainder[:8] ^ self.data), left.eq(_BITS - 1)]
            m.d.sync += self.busy.eq(1)
        with m.Elif(self.busy):
            m.d.sync += remainder.eq((remainder >> 1) ^ Mux(remainder[0], _POLYNOMIAL, 0))
            m.d.sync += [left.eq(left - 1), self.busy.eq(left != 0)]
        return m
