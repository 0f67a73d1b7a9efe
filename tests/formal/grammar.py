"""The grammar of streams (docs/timing.md, "Grammar"), as hardware that reads along."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal, Value, ValueLike
from amaranth.lib import data

from samhw.rtl.token import TokenKind, is_payload, stop_hi, stop_lo

__all__ = ["Grammar", "Reader"]


@dataclass(frozen=True)
class Grammar:
    """What is said of a stream.

    Attributes:
        depth: fiber levels around a payload.
        ascends: the payloads of each innermost fiber are coordinates that increase; none is EMPTY.
        empty: a payload may be EMPTY.
    """

    depth: int
    ascends: bool = False
    empty: bool = False


class Reader:
    """Follows a stream, token by token.

    Args:
        token: the next token, once `reads` is set.
        reads: the token is read in this cycle.

    Attributes:
        legal: the token may stand here.
        reach: the greatest `lo` that a stop may have here.
        over: nothing but DONE may come.
        inside: a payload of the innermost fiber has been read.
        last: the payload of the token that was read last.
        ended: a DONE has been read.
    """

    def __init__(self, m: Module, name: str, grammar: Grammar, token: data.View, reads: ValueLike):
        depth = grammar.depth
        self.legal = Signal(name=f"{name}_legal")
        self.reach = Signal(4, init=max(depth - 1, 0), name=f"{name}_reach")
        self.over = Signal(name=f"{name}_over")
        self.inside = Signal(name=f"{name}_inside")
        self.last = Signal.like(token.payload, name=f"{name}_last")
        self.ended = Signal(name=f"{name}_ended")
        payload = token.kind == TokenKind.VAL
        if grammar.empty:
            payload |= (token.kind == TokenKind.EMPTY) & (token.payload == 0)
        lo, hi = stop_lo(token), stop_hi(token)
        stop = (token.kind == TokenKind.STOP) & (token.payload[8:] == 0) if depth else Value.cast(0)
        stop &= (lo <= hi) & (lo <= self.reach) & (hi < depth)
        done = (token.kind == TokenKind.DONE) & (token.payload == 0)
        if grammar.ascends:
            payload &= ~self.inside | (token.payload > self.last)
        m.d.comb += self.legal.eq((self.over & done) | (~self.over & (payload | stop)))
        with m.If(reads):
            m.d.sync += [self.last.eq(token.payload), self.inside.eq(is_payload(token))]
            with m.If(is_payload(token)):
                m.d.sync += [self.reach.eq(0), self.over.eq(depth == 0)]
            with m.Elif(token.kind == TokenKind.STOP):
                m.d.sync += [self.reach.eq(hi), self.over.eq(hi == depth - 1)]
            with m.Else():
                m.d.sync += [self.reach.eq(self.reach.init), self.over.eq(0), self.ended.eq(1)]
