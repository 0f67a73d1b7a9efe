"""What makes a coordinate or a reference of another one: shift and pick."""

from collections.abc import Mapping

from amaranth.hdl import Value, ValueLike

from samhw.primitives.pick.component import Pick
from samhw.primitives.shift.component import Shift
from samhw.rtl.actor import Error
from samhw.rtl.token import TokenKind
from tests.formal.actors.words import (
    EMPTY,
    always,
    answered,
    late,
    push,
    reports,
    stable,
    take,
    value,
)
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import prose, table

__all__ = ["ACTORS"]

_PLACES = 16
"""Of the memory."""


def _shift(at: Bench) -> Reading:
    head, extent = at.heads["crd"], at.component.extent

    def pushed(token: ValueLike) -> Does:
        return Does(takes=always(["crd"]), pushes={"crd": (1, token)})

    return Reading(
        columns=[(["crd"], kinds(head))],
        firings={
            "take, push VAL(c + N(x)), the sum modulo 2^`index_bits`": pushed(
                value((head.payload + extent)[:8])
            ),
            "take, push it": pushed(head.as_value()),
        },
    )


def _pick(at: Bench) -> Reading:
    p, r = at.heads["at"], at.heads["ref"]
    memory, extent = at.component.mem_crd, stable(at.m, at.component.extent)
    place = p.payload
    crd = answered(at.m, memory.en & (memory.addr == place[: len(memory.addr)]), memory.data, 1)
    is_end = (p.kind == TokenKind.STOP) | (p.kind == TokenKind.DONE)

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        """The coordinate is looked at a cycle after that in which it comes."""
        reads = p.kind == TokenKind.VAL
        is_read = reads & (happens[picked] | happens["push EMPTY"])
        there = at.component.i.at.valid & at.component.i.ref.valid
        found = late(at.m, is_read & (crd >= extent), 2)
        beyond = late(at.m, there & reads & (place >= _PLACES))
        return [(reports(at, Error.RANGE) == (found | beyond))]

    picked = "push VAL(r · N(x) + crd[p])"
    return Reading(
        columns=[
            (["at"], kinds(p) | {"the same STOP, or DONE": is_end & (p.as_value() == r.as_value())}),
            (["ref"], kinds(r) | {"": 1}),
        ],
        firings={
            "take both": take("at", "ref"),
            picked: push(ref=value((r.payload * extent + crd)[:8])),
            "push EMPTY": push(ref=EMPTY),
            "push it": push(ref=p.as_value()),
        },
        promises=promises,
    )


ACTORS = (
    Actor("shift", prose("shift"), lambda: Shift(arch=SHORT), _shift),
    Actor(
        "pick",
        table("pick"),
        lambda: Pick(arch=SHORT, crd_capacity=_PLACES),
        _pick,
        latency=SHORT.memory + SHORT.locate,
    ),
)
