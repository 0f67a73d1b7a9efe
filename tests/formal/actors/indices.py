"""What makes a coordinate or a reference of another one: shift and pick."""

from collections.abc import Mapping

from amaranth.hdl import Value, ValueLike

from docs.rules import rows
from samhw.primitives.pick.component import Pick
from samhw.primitives.shift.component import Shift
from samhw.rtl.actor import Error
from samhw.rtl.token import TokenKind
from tests.formal.actors.words import late, reports, stable, stored
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]

_PLACES = 16
"""Of the memory."""


def _shift(at: Bench) -> Meaning:
    return Meaning(at, {"N": lambda index: at.component.extent})


_PICKED = "push(VAL(r * N(x) + crd[p]))"


def _pick(at: Bench) -> Meaning:
    head = at.heads["at"]
    extent = stable(at.m, at.component.extent)
    crd = stored(at, "crd")(head.payload)

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        """The coordinate is looked at a cycle after that in which it comes."""
        reads = head.kind == TokenKind.VAL
        is_read = reads & (happens[_PICKED] | happens["push(EMPTY)"])
        there = at.component.i.at.valid & at.component.i.ref.valid
        found = late(at.m, is_read & (crd >= extent), 2)
        beyond = late(at.m, there & reads & (head.payload >= _PLACES))
        return [(reports(at, Error.RANGE) == (found | beyond))]

    return Meaning(at, {"N": lambda index: extent, "crd": lambda p: crd}, promises=promises)


ACTORS = (
    Actor("shift", rows("shift"), lambda: Shift(arch=SHORT), _shift),
    Actor(
        "pick",
        rows("pick"),
        lambda: Pick(arch=SHORT, crd_capacity=_PLACES),
        _pick,
        latency=SHORT.memory + SHORT.locate,
    ),
)
