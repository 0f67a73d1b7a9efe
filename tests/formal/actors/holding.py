"""hold: of repeat and crd_hold."""

from collections.abc import Callable

from amaranth.hdl import Assume, Signal

from samhw.rtl.crd_hold import CrdHold
from samhw.rtl.repeat import Repeater
from samhw.rtl.token import CONTROL, TokenKind, is_payload, make_token, stop_hi, stop_lo, stop_token
from tests.formal.actors.words import DONE, changes, push, take
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]


def _hold(outer: str, inner: str, output: str, *, may_be_empty: bool) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        o, i = at.heads[outer], at.heads[inner]
        held, h = Signal(), Signal(CONTROL)
        # An EMPTY among coordinates is an error before it comes to the table.
        at.m.d.comb += Assume(may_be_empty | (o.kind != TokenKind.EMPTY))
        stop = o.kind == TokenKind.STOP
        over = kinds(o) | {
            "STOP(0, hi−1)": stop & (stop_lo(o) == 0) & (stop_hi(o) == stop_hi(i) - 1),
            "STOP(lo−1, hi−1)": stop & (stop_lo(o) == stop_lo(i) - 1) & (stop_hi(o) == stop_hi(i) - 1),
        }
        passed = push(**{output: make_token(i.kind, i.payload)})
        return Reading(
            columns=[
                ([inner], kinds(i)),
                ([outer], over),
                ([], {"": 1, "`held`": held, "not `held`": ~held}),
            ],
            firings={
                "take inner": take(inner),
                "take outer only": take(outer),
                "take both": take(inner, outer),
                "push f(h, x)": push(**{output: h.as_value()}),
                "push f(p, x)": push(**{output: o.as_value()}),
                "push S0": push(**{output: stop_token(0, 0)}),
                "push DONE": push(**{output: DONE}),
                "push STOP(0, hi)": passed,
                "push STOP(lo, hi)": passed,
                "push nothing": Does(),
                "held := true, h := p": changes(held.eq(1), h.eq(o)),
                "held := false": changes(held.eq(0)),
            },
            same=(at.state["hold.held"] == held)
            & (~held | ((at.state["hold.h"] == h.as_value()) & is_payload(h)))
            & ((h.kind != TokenKind.EMPTY) | (h.payload == 0)),
        )

    return read


ACTORS = (
    Actor(
        "hold of repeat",
        table("Holding an outer payload"),
        lambda: Repeater(arch=SHORT, payload_width=8),
        _hold("ref", "crd", "ref", may_be_empty=True),
    ),
    Actor(
        "hold of crd_hold",
        table("Holding an outer payload"),
        lambda: CrdHold(arch=SHORT),
        _hold("outer", "inner", "crd", may_be_empty=False),
    ),
)
