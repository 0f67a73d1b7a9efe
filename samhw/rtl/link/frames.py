"""Frames from bytes, and bytes from frames (docs/link.md, "Frames")."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["CONTENT", "Crc", "Deframer", "Framer"]

# The CRC-32 of frames (docs/link.md), a bit in each cycle: a line takes many more for a byte.


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


CONTENT = data.StructLayout({"data": unsigned(8), "last": unsigned(1)})
"""A byte of a frame's content, and whether it is the last one."""

_FLAG = 0x7E
_ESCAPE = 0x7D
_INVERTED = 0x20


class Deframer(wiring.Component):
    """Takes bytes of the line apart.

    Members:
        data, valid, broken: as of `Receiver`; bytes come more than nine cycles apart.
        content, take: in this cycle, a byte of a frame, which came in the last one; those of its CRC come
            after, as if they belonged to it.
        end: in this cycle, a flag.
        good: with `end`: what lies before it, back to the flag before, is whole.
    """

    data: Signal
    valid: Signal
    broken: Signal
    content: Signal
    take: Signal
    end: Signal
    good: Signal

    def __init__(self) -> None:
        super().__init__(
            {
                "data": In(8),
                "valid": In(1),
                "broken": In(1),
                "content": Out(8),
                "take": Out(1),
                "end": Out(1),
                "good": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.crc = crc = Crc()
        escaped = Signal()
        damaged = Signal(init=1)
        """A byte was broken since the last flag, or there was none."""
        byte = Signal(8)
        valid = Signal()
        flag = Signal()
        escape = Signal()
        """What a byte is comes from registers, since it decides on all that follows."""
        m.d.sync += [
            byte.eq(self.data),
            valid.eq(self.valid),
            flag.eq(self.data == _FLAG),
            escape.eq(self.data == _ESCAPE),
        ]
        m.d.comb += [
            self.content.eq(Mux(escaped, byte ^ _INVERTED, byte)),
            self.take.eq(valid & ~flag & (escaped | ~escape)),
            self.end.eq(valid & flag),
            self.good.eq(crc.matches & ~damaged & ~escaped),
            crc.start.eq(self.end),
            crc.data.eq(self.content),
            crc.valid.eq(self.take),
        ]
        with m.If(self.end):
            m.d.sync += [escaped.eq(0), damaged.eq(0)]
        with m.Elif(valid):
            m.d.sync += escaped.eq(~escaped & escape)
        with m.If(self.broken):
            m.d.sync += damaged.eq(1)
        return m


class Framer(wiring.Component):
    """Puts frames together.

    Members:
        i: the content, byte by byte, with the last one of each frame marked.
        o: the bytes of the line, each of which takes more than eight cycles.
        sent: in this cycle, the last byte of a frame goes out.
    """

    def __init__(self) -> None:
        super().__init__({"i": In(stream.Signature(CONTENT)), "o": Out(stream.Signature(8)), "sent": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.crc = crc = Crc()
        content = Signal(CONTENT)
        full = Signal()
        """`content` is still to be sent. A register, since it takes long to see that a byte is special."""
        escaped = Signal()
        number = Signal(2)
        byte = Signal(8)
        done = Signal()
        special = (byte == _FLAG) | (byte == _ESCAPE)
        m.d.comb += [self.i.ready.eq(~full), crc.data.eq(content.data)]
        with m.If(self.i.ready):
            m.d.sync += [content.eq(self.i.payload), full.eq(self.i.valid)]

        def send() -> None:
            """The byte, in one or two; `done` with the last of them."""
            m.d.comb += [
                self.o.payload.eq(Mux(escaped, byte ^ _INVERTED, Mux(special, _ESCAPE, byte))),
                done.eq(self.o.valid & self.o.ready & (escaped | ~special)),
            ]
            with m.If(self.o.valid & self.o.ready):
                m.d.sync += escaped.eq(~escaped & special)

        with m.FSM():
            with m.State("BEGIN"):
                m.d.comb += [self.o.payload.eq(_FLAG), self.o.valid.eq(full), crc.start.eq(1)]
                with m.If(self.o.valid & self.o.ready):
                    m.next = "CONTENT"
            with m.State("CONTENT"):
                m.d.comb += [byte.eq(content.data), self.o.valid.eq(full), crc.valid.eq(done)]
                send()
                with m.If(done):
                    m.d.sync += full.eq(0)
                    with m.If(content.last):
                        m.next = "CRC"
            with m.State("CRC"):
                m.d.comb += [byte.eq(crc.crc.word_select(number, 8)), self.o.valid.eq(~crc.busy)]
                send()
                with m.If(done):
                    m.d.sync += number.eq(number + 1)
                    with m.If(number == 3):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += [self.o.payload.eq(_FLAG), self.o.valid.eq(1)]
                m.d.comb += self.sent.eq(self.o.ready)
                with m.If(self.o.ready):
                    m.next = "BEGIN"
        return m
