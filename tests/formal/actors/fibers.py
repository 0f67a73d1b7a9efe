"""Primitives of one actor: last and scatter."""

from amaranth.hdl import Assume, Mux, Signal

from samhw.graph.numerics import value_type
from samhw.primitives.last.component import Last
from samhw.primitives.scatter.component import Scatter
from samhw.rtl.token import TokenKind
from tests.formal.actors.words import below, changes, push, take, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]

_LANES = 3


def _last(at: Bench) -> Reading:
    head = at.heads["val"]
    x, half = Signal(8), Signal()
    return Reading(
        columns=[(["val"], kinds(head)), ([], {"": 1, "not `half`": ~half})],
        firings={
            "take": take("val"),
            "x := y": changes(x.eq(head.payload)),
            "push VAL(x)": push(val=value(x)),
            "x := 0": changes(x.eq(0)),
            "half := true": changes(half.eq(1)),
            "half := false": changes(half.eq(0)),
            "push STOP(max(lo, 1)−1, hi−1)": push(val=below(head)),
            "push it": push(val=head.as_value()),
        },
        same=(at.state["last"] == x) & (at.state["half"] == half),
    )


def _scatter(at: Bench) -> Reading:
    head = at.heads["ref"]
    turn = Signal(range(_LANES))
    # A list ends with a stop, so that the first lane has its turn.
    at.m.d.comb += Assume((head.kind != TokenKind.DONE) | (turn == 0))
    lanes = [f"ref{lane}" for lane in range(_LANES)]
    return Reading(
        columns=[(["ref"], kinds(head))],
        firings={
            "take": take("ref"),
            "push it on ref<turn>": Does(
                pushes={name: (turn == lane, head.as_value()) for lane, name in enumerate(lanes)}
            ),
            "turn := turn + 1": changes(turn.eq(Mux(turn == _LANES - 1, 0, turn + 1))),
            "push it on all outputs": push(**dict.fromkeys(lanes, head.as_value())),
            "turn := 0": changes(turn.eq(0)),
        },
        same=at.state["turn"] == turn,
    )


ACTORS = (
    Actor("last", table("last"), lambda: Last(arch=SHORT, value_type=value_type("i8")), _last),
    Actor("scatter", table("scatter"), lambda: Scatter(arch=SHORT, lanes=_LANES, payload_width=8), _scatter),
)
