"""hold: of repeat, crd_hold and locate."""

from collections.abc import Callable, Mapping

from amaranth.hdl import Assume, Mux, Signal, Value, ValueLike
from amaranth.lib import data

from samhw.primitives.crd_hold.component import CrdHold
from samhw.primitives.locate.component import Locate
from samhw.primitives.repeat.component import Repeater
from samhw.rtl.actor import Error
from samhw.rtl.token import CONTROL, TokenKind, is_payload, make_token, stop_hi, stop_lo, stop_token
from tests.formal.actors.words import DONE, changes, late, push, reports, take, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]


Function = Callable[[Bench, data.View, Value], Value]
"""f(h, x) of the page: of a token h and a coordinate x."""


def _repeated(at: Bench, h: data.View, x: Value) -> Value:
    return h.as_value()


def _located(at: Bench, h: data.View, x: Value) -> Value:
    return Mux(h.kind == TokenKind.EMPTY, h.as_value(), value((h.payload * at.component.extent + x)[:8]))


def _hold(
    outer: str, inner: str, output: str, *, may_be_empty: bool, f: Function = _repeated
) -> Callable[[Bench], Reading]:
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

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            """Of locate: a coordinate beyond the extent is an error, whatever is held."""
            if not hasattr(at.component, "extent"):
                return []
            head_is_beyond = (i.kind == TokenKind.VAL) & (i.payload >= at.component.extent)
            beyond = at.component.i.crd.valid & head_is_beyond
            return [reports(at, Error.RANGE) == late(at.m, beyond)]

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
                "push f(h, x)": push(**{output: f(at, h, i.payload)}),
                "push f(p, x)": push(**{output: f(at, o, i.payload)}),
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
            promises=promises,
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
    Actor(
        "hold of locate",
        table("Holding an outer payload"),
        lambda: Locate(arch=SHORT),
        _hold("ref", "crd", "ref", may_be_empty=True, f=_located),
        latency=SHORT.locate,
    ),
)
