"""Primitives of one actor: last and scatter."""

from amaranth.hdl import Assume, Mux, Signal

from docs.rules import rows
from samhw.graph.numerics import value_type
from samhw.primitives.last.component import Last
from samhw.primitives.scatter.component import Scatter
from samhw.rtl.token import TokenKind
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]

_LANES = 3


def _last(at: Bench) -> Meaning:
    x, half = Signal(8), Signal()
    same = (at.state["last"] == x) & (at.state["half"] == half)
    return Meaning(at, {"x": x, "half": half}, same=same)


def _scatter(at: Bench) -> Meaning:
    head = at.heads["ref"]
    turn = Signal(range(_LANES))
    # A list ends with a stop, so that the first lane has its turn.
    at.m.d.comb += Assume((head.kind != TokenKind.DONE) | (turn == 0))
    names = {"turn": turn, "next": lambda lane: Mux(lane == _LANES - 1, 0, lane + 1)}
    return Meaning(at, names, every=_LANES, same=at.state["turn"] == turn)


ACTORS = (
    Actor("last", rows("last"), lambda: Last(arch=SHORT, value_type=value_type("i8")), _last),
    Actor("scatter", rows("scatter"), lambda: Scatter(arch=SHORT, lanes=_LANES, payload_width=8), _scatter),
)
