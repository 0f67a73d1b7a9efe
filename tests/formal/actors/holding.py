"""hold: of repeat, crd_hold and locate."""

from collections.abc import Callable, Mapping

from amaranth.hdl import Assume, Mux, Signal, Value, ValueLike
from amaranth.lib import data

from docs.rules import rows
from samhw.primitives.crd_hold.component import CrdHold
from samhw.primitives.locate.component import Locate
from samhw.primitives.repeat.component import Repeater
from samhw.rtl.actor import Error
from samhw.rtl.token import CONTROL, TokenKind, is_payload
from tests.formal.actors.words import late, reports, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]


Function = Callable[[Bench, data.View, Value], Value]
"""f(h, x) of the rule: of a token h and a coordinate x."""


def _repeated(at: Bench, h: data.View, x: Value) -> Value:
    return h.as_value()


def _located(at: Bench, h: data.View, x: Value) -> Value:
    return Mux(h.kind == TokenKind.EMPTY, h.as_value(), value((h.payload * at.component.extent + x)[:8]))


def _hold(
    outer: str, inner: str, output: str, *, may_be_empty: bool, f: Function = _repeated
) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
        o, i = at.heads[outer], at.heads[inner]
        held, h = Signal(), Signal(CONTROL)
        # An EMPTY among coordinates is an error before it comes to the table.
        at.m.d.comb += Assume(may_be_empty | (o.kind != TokenKind.EMPTY))

        def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
            """Of locate: a coordinate beyond the extent is an error, whatever is held."""
            if not hasattr(at.component, "extent"):
                return []
            head_is_beyond = (i.kind == TokenKind.VAL) & (i.payload >= at.component.extent)
            beyond = at.component.i.crd.valid & head_is_beyond
            return [reports(at, Error.RANGE) == late(at.m, beyond)]

        return Meaning(
            at,
            {"held": held, "h": h, "f": lambda token, x: f(at, token, x)},
            ports={"inner": inner, "outer": outer},
            same=(at.state["hold.held"] == held)
            & (~held | ((at.state["hold.h"] == h.as_value()) & is_payload(h)))
            & ((h.kind != TokenKind.EMPTY) | (h.payload == 0)),
            promises=promises,
        )

    return read


ACTORS = (
    Actor(
        "hold of repeat",
        rows("hold"),
        lambda: Repeater(arch=SHORT, payload_width=8),
        _hold("ref", "crd", "ref", may_be_empty=True),
    ),
    Actor(
        "hold of crd_hold",
        rows("hold"),
        lambda: CrdHold(arch=SHORT),
        _hold("outer", "inner", "crd", may_be_empty=False),
    ),
    Actor(
        "hold of locate",
        rows("hold"),
        lambda: Locate(arch=SHORT),
        _hold("ref", "crd", "ref", may_be_empty=True, f=_located),
        latency=SHORT.locate,
    ),
)
