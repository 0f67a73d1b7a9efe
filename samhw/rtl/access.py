"""How primitives read and write memories, wherever these lie (docs/memory.md)."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from amaranth.hdl import Const, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from samhw.rtl.channel import PushSignature
from samhw.rtl.output import ControlSignature, Output
from samhw.rtl.token import TokenKind, token_width

__all__ = [
    "AskSignature",
    "MemoryAccess",
    "MemoryReadSignature",
    "MemoryWriteSignature",
    "PutSignature",
    "Reading",
    "read_member",
    "reading",
    "room_to_write",
    "write_member",
]


class MemoryAccess(Enum):
    """What stands between a node and a memory."""

    CHIP = "a memory on the chip answers in the next cycle"
    PORT = "a port answers when it can"
    NONE = "nothing: nobody takes what would be read"


class MemoryReadSignature(wiring.Signature):
    """A read port of a memory: `data` in the cycle after `en` with `addr`; held while `en` is low."""

    def __init__(self, addr_width: int, width: int):
        super().__init__({"addr": Out(addr_width), "en": Out(1), "data": In(width)})


class MemoryWriteSignature(wiring.Signature):
    """A write port of an on-chip memory: `data` lands at `addr` at the end of a cycle with `en`."""

    def __init__(self, addr_width: int, width: int):
        super().__init__({"addr": Out(addr_width), "en": Out(1), "data": Out(width)})


class AskSignature(wiring.Signature):
    """A read port to memory off the chip, seen from the node.

    Args:
        addr_width: bits of a place's number.
        width: of a place.
        note_width: of what the token takes along.

    Members:
        ask: tokens of the channel `ask`. `payload` is the place that is read if `reads`, else the levels of a
            stop.
        told: the tokens, in order, each as soon as its word is there.
        data: the place's, in the cycle after that in which a token that `reads` left `told`.
    """

    def __init__(self, addr_width: int, width: int, note_width: int = 0):
        self.addr_width = addr_width
        self.width = width
        self.note_width = note_width
        more = {"reads": 1, "note": note_width}
        asked = data.StructLayout({"kind": TokenKind, "payload": token_width(addr_width), **more})
        told = data.StructLayout({"kind": TokenKind, "payload": token_width(0), **more})
        super().__init__(
            {"ask": Out(PushSignature(asked)), "told": In(stream.Signature(told)), "data": In(width)}
        )


class PutSignature(wiring.Signature):
    """A write port to memory off the chip, seen from the node.

    Members:
        ready: the channel `put` has a free slot; comes from a register.
        en: the actor writes `data` to the place `addr`. Only while `ready`, as `done`.
        done: the actor fires on DONE, and writes nothing.
    """

    def __init__(self, addr_width: int, width: int):
        self.addr_width = addr_width
        self.width = width
        super().__init__(
            {
                "ready": In(1),
                "en": Out(1),
                "addr": Out(addr_width),
                "data": Out(width),
                "done": Out(1),
            }
        )


def read_member(access: MemoryAccess, capacity: int, width: int, note: int = 0) -> wiring.Member:
    """A node's port to a memory that it reads.

    Args:
        capacity: in places, each of `width` bits.
        note: bits of what `reading` is given to take along.
    """
    if access is MemoryAccess.NONE:
        return Out(wiring.Signature({}))
    if access is MemoryAccess.PORT:
        return Out(AskSignature(ceil_log2(capacity), width, note))
    return Out(MemoryReadSignature(ceil_log2(capacity), width))


def write_member(access: MemoryAccess, capacity: int, width: int) -> wiring.Member:
    """A node's port to a memory that it writes; arguments as of `read_member`."""
    kind = PutSignature if access is MemoryAccess.PORT else MemoryWriteSignature
    return Out(kind(ceil_log2(capacity), width))


_NOTHING = Const(0, 0)


class Reading(NamedTuple):
    """An output whose payload is made of what a memory holds."""

    i: wiring.PureInterface
    """Takes the place of `Output.i` for the actor."""
    data: Value
    """What was read, in the cycle after the output's pipeline has begun."""
    note: Value
    """As it was given, in the cycle in which the pipeline begins."""
    asked: Value
    """The next cycle's `data` have been asked for."""
    joins: Sequence[Any] = ()
    """What joins the actor, the memory and the output; belongs into the domain `comb`."""
    is_read: bool = True
    """Somebody takes them."""

    def counts(self, used: Value) -> Value:
        """Whether data that are `used` have been read."""
        return used if self.is_read else Const(0)


def reading(
    port: wiring.PureInterface,
    output: Output,
    *,
    addr: Value,
    note: Value = _NOTHING,
    asked: Value = _NOTHING,
    reads: Value | None = None,
) -> Reading:
    """Joins an output, for which an actor decides, to the memory that its payload comes from.

    Args:
        addr: the place that the actor reads if it fires.
        note: what else the payload is made of.
        asked: in a cycle in which the memory's answer may count, on chip.
        reads: the actor reads if it fires; by default, if it pushes a VAL.
    """
    if not port.signature.members:
        return Reading(output.i, Const(0, output.width), note, Const(0), is_read=False)
    if isinstance(port.signature, MemoryReadSignature):
        return Reading(output.i, port.data, note, asked, (port.addr.eq(addr), port.en.eq(1)))
    decided: wiring.PureInterface = ControlSignature().flip().create()
    token, asks, told = decided.token, port.ask.token, port.told.payload
    joins = [
        decided.ready.eq(port.ask.ready),
        port.ask.push.eq(decided.push),
        port.ask.strobe.eq(decided.push),
        asks.kind.eq(token.kind),
        asks.reads.eq((token.kind == TokenKind.VAL) if reads is None else reads),
        asks.payload.eq(Mux(asks.reads, addr, token.payload)),
        asks.note.eq(note),
        # The actor *deliver*.
        port.told.ready.eq(output.i.ready),
        output.i.push.eq(port.told.valid & output.i.ready),
        output.i.token.kind.eq(told.kind),
        output.i.token.payload.eq(told.payload),
    ]
    return Reading(decided, port.data, told.note, output.i.push & told.reads, joins)


def room_to_write(writes: Mapping[wiring.PureInterface, Value]) -> Iterable[Value]:
    """Whether there are the slots that a writer needs.

    Args:
        writes: for each of its ports whether its next firing writes there, or is that on DONE.
    """
    for port, condition in writes.items():
        if isinstance(port.signature, PutSignature):
            yield port.ready | ~condition
