"""The table of *hold* as docs/primitives.md has it, read from the page, beside the RTL."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from amaranth.hdl import Assert, Assume, Const, Elaboratable, Fragment, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.hold import Hold
from samhw.rtl.token import CONTROL, TokenKind, is_payload, stop_hi, stop_lo
from tests.formal.inside import registers

__all__ = ["HoldContract", "rows"]

PAGE = Path(__file__).parents[2] / "docs" / "primitives.md"


def rows(page: str) -> list[list[str]]:
    """The rows of the table, as inner head, outer head, condition and firing."""
    _, _, section = page.partition("\n## Holding an outer payload\n")
    lines = re.findall(r"^\|(.+)\|$", section.partition("\n### ")[0], re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]


def _stop(token: data.View) -> Value:
    return token.kind == TokenKind.STOP


def _is_token(head: data.View) -> Value:
    done = head.kind == TokenKind.DONE
    return (~_stop(head) | (stop_lo(head) <= stop_hi(head))) & (~done | (head.payload == 0))


_INNER: Mapping[str, Callable[[data.View], Value]] = {
    "VAL(x)": lambda head: head.kind == TokenKind.VAL,
    "STOP(0, 0)": lambda head: _stop(head) & (stop_lo(head) == 0) & (stop_hi(head) == 0),
    "STOP(0, hi), hi ≥ 1": lambda head: _stop(head) & (stop_lo(head) == 0) & (stop_hi(head) >= 1),
    "STOP(lo, hi), lo ≥ 1": lambda head: _stop(head) & (stop_lo(head) >= 1),
    "DONE": lambda head: head.kind == TokenKind.DONE,
}

_OUTER: Mapping[str, Callable[[data.View, data.View], Value]] = {
    "not examined": lambda head, inner: Const(1),
    "payload": lambda head, inner: is_payload(head),
    "payload p": lambda head, inner: is_payload(head),
    "STOP(0, hi−1)": lambda head, inner: (
        _stop(head) & (stop_lo(head) == 0) & (stop_hi(head) == stop_hi(inner) - 1)
    ),
    "STOP(lo−1, hi−1)": lambda head, inner: (
        _stop(head) & (stop_lo(head) == stop_lo(inner) - 1) & (stop_hi(head) == stop_hi(inner) - 1)
    ),
    "DONE": lambda head, inner: head.kind == TokenKind.DONE,
}


class HoldContract(wiring.Component):
    """The actor beside an ideal one, whose firings are the rows of the page. Heads and room are free in every
    cycle.

    Members:
        inner, outer, o: as of `Hold`, whose tokens are as wide as a stop.
        fired, protocol: of the RTL.
        due: the page has a firing in this cycle.
    """

    def __init__(self, table: Sequence[Sequence[str]]):
        self.table = table
        super().__init__(
            {
                "inner": In(stream.Signature(CONTROL)),
                "outer": In(stream.Signature(CONTROL)),
                "room": In(1),
                "pushed": Out(CONTROL),
                "fired": Out(1),
                "protocol": Out(1),
                "due": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        hold = Hold(8, 8)
        m.submodules.hold = fragment = Fragment.get(hold, None)
        wiring.connect(m, wiring.flipped(self.inner), hold.inner)
        wiring.connect(m, wiring.flipped(self.outer), hold.outer)
        inner, outer = self.inner.payload, self.outer.payload
        held = Signal()
        h = Signal(CONTROL)
        takes_inner, takes_outer, pushes, covered = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            hold.o.ready.eq(self.room),
            self.fired.eq(hold.fired),
            self.protocol.eq(hold.protocol),
            *(Assume(_is_token(head)) for head in (inner, outer)),
        ]
        conditions = {"": Const(1), "`held`": held, "not `held`": ~held}
        firings = {
            "take inner": [takes_inner.eq(1)],
            "take outer only": [takes_outer.eq(1)],
            "take both": [takes_inner.eq(1), takes_outer.eq(1)],
            "push f(h, x)": [pushes.eq(1), self.pushed.eq(h)],
            "push f(p, x)": [pushes.eq(1), self.pushed.eq(outer)],
            "push S0": [pushes.eq(1), self.pushed.kind.eq(TokenKind.STOP)],
            "push DONE": [pushes.eq(1), self.pushed.kind.eq(TokenKind.DONE)],
            "push STOP(0, hi)": [pushes.eq(1), self.pushed.eq(inner)],
            "push STOP(lo, hi)": [pushes.eq(1), self.pushed.eq(inner)],
            "push nothing": [],
        }
        changes = {
            "held := true, h := p": [held.eq(1), h.eq(outer)],
            "held := false": [held.eq(0)],
        }
        earlier: Value = Const(0)
        for inner_cell, outer_cell, condition, firing in self.table:
            here = _INNER[inner_cell](inner) & _OUTER[outer_cell](outer, inner) & conditions[condition]
            needs_outer = outer_cell != "not examined"
            with m.If(here & ~earlier & self.inner.valid & (self.outer.valid | (not needs_outer))):
                m.d.comb += covered.eq(1)
                for part in firing.split("; "):
                    m.d.comb += firings.get(part, [])
                    with m.If(self.due):
                        m.d.sync += changes[part] if part not in firings else []
            earlier |= here
        m.d.comb += [
            self.due.eq(covered & (self.room | ~pushes)),
            Assert(self.fired == self.due),
            Assert(self.inner.ready == (self.due & takes_inner)),
            Assert(self.outer.ready == (self.due & takes_outer)),
            Assert(hold.o.push == (self.due & pushes)),
            Assert(self.protocol == (self.inner.valid & self.outer.valid & ~covered)),
        ]
        with m.If(hold.o.push):
            payload_is_h = is_payload(self.pushed)
            m.d.comb += [
                Assert(hold.o.token.kind == self.pushed.kind),
                Assert(~payload_is_h | (hold.payload == self.pushed.payload)),
                Assert(payload_is_h | (hold.o.token.payload == self.pushed.payload)),
            ]
        state = registers(fragment)
        m.d.comb += [
            Assert(state["held"] == held),
            Assert(~held | ((state["h"] == h.as_value()) & is_payload(h))),
        ]
        return m
