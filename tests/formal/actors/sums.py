"""reduce_scalar: its actors."""

from amaranth.hdl import Mux, Signal

from samhw.graph.numerics import value_type
from samhw.primitives.block_sum.component import BlockSum
from samhw.primitives.reduce_scalar.component import ReduceScalar
from samhw.rtl.token import TokenKind
from tests.formal.actors.words import (
    DONE,
    EMPTY,
    below,
    changes,
    computed,
    looped_alone,
    push,
    stays,
    take,
    value,
)
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.firings import Actor, Bench, Reading, kinds
from tests.formal.page import table
from tests.formal.part import Part

__all__ = ["ACTORS"]


def _accumulate(at: Bench) -> Reading:
    """Of reduce_scalar."""
    head, step = at.heads["val"], at.component.step
    acc, first = Signal(8), Signal(init=1)
    grown = computed(at.m, step, "result", a=acc, b=head.payload)
    clear = changes(acc.eq(0), first.eq(1))
    return Reading(
        columns=[(["val"], kinds(head))],
        firings={
            "take": take("val"),
            "acc := x if first, else op(acc, x)": changes(acc.eq(Mux(first, head.payload, grown))),
            "first := false": changes(first.eq(0)),
            "push sum VAL(acc), stop EMPTY": push(sum=value(acc), stop=EMPTY),
            "push sum VAL(acc), stop STOP(0, hi−1)": push(sum=value(acc), stop=below(head)),
            "push sum EMPTY, stop STOP(lo−1, hi−1)": push(sum=EMPTY, stop=below(head)),
            "push DONE on both": push(sum=DONE, stop=DONE),
            "acc := 0, first := true": clear,
        },
        same=(at.state["acc"] == acc) & (at.state["first"] == first),
    )


def _mark(at: Bench) -> Reading:
    head = at.heads["val"]
    have, x = Signal(), Signal(8)
    last = value(Mux(have, x, 0))
    return Reading(
        columns=[(["val"], kinds(head)), ([], {"": 1, "`have`": have, "not `have`": ~have})],
        firings={
            "take": take("val"),
            "x := y": changes(x.eq(head.payload)),
            "have := true": changes(have.eq(1)),
            "have := false": changes(have.eq(0)),
            "push VAL(x), VAL(0)": push(sum=value(x), stop=value(0)),
            "push VAL(x) (VAL(0) if not `have`), EMPTY": push(sum=last, stop=EMPTY),
            "push VAL(x) (VAL(0) if not `have`), STOP(0, hi−1)": push(sum=last, stop=below(head)),
            "push EMPTY, STOP(lo−1, hi−1)": push(sum=EMPTY, stop=below(head)),
            "push DONE on both": push(sum=DONE, stop=DONE),
        },
        same=(at.state["have"] == have) & (at.state["x"] == Mux(have, x, 0)),
    )


def _pair(at: Bench) -> Reading:
    sum, stop = at.heads["sum"], at.heads["stop"]
    have, x = Signal(), Signal(8)
    y = sum.payload
    both = computed(at.m, at.component.step, "result", a=x, b=y)
    end = stop.as_value()
    return Reading(
        columns=[
            (["sum"], kinds(sum)),
            (["stop"], kinds(stop)),
            ([], {"": 1, "`have`": have, "not `have`": ~have}),
        ],
        firings={
            "take": take("sum", "stop"),
            "x := y": changes(x.eq(y)),
            "have := true": changes(have.eq(1)),
            "have := false": changes(have.eq(0)),
            "push VAL(x + y), VAL(0)": push(sum=value(both), stop=value(0)),
            "push VAL(y) and the stop token": push(sum=value(y), stop=end),
            "push VAL(x + y) and the stop token": push(sum=value(both), stop=end),
            "push both": push(sum=sum.as_value(), stop=end),
        },
        same=(at.state["have"] == have) & (~have | (at.state["x"] == x)),
    )


def _sum_chain(at: Bench) -> Reading:
    """Of reduce_scalar."""
    sum, stop = at.heads["sum"], at.heads["stop"]
    have, looped, x, z = Signal(), Signal(), Signal(8), Signal(8)
    y = sum.payload
    joined, added = (computed(at.m, at.component.step, "result", a=a, b=y) for a in (x, z))
    end = stop.as_value()
    conditions = {"": 1, "neither": ~have & ~looped, "`have`": have, "`looped`": looped}
    return Reading(
        columns=[(["sum"], kinds(sum)), (["stop"], kinds(stop)), ([], conditions)],
        firings={
            "take both": take("sum", "stop"),
            "take both and loop VAL(z)": take("sum", "stop"),
            "x := y": changes(x.eq(y)),
            "have := true": changes(have.eq(1)),
            "have := false": changes(have.eq(0)),
            "looped := true": changes(looped.eq(1)),
            "looped := false": changes(looped.eq(0)),
            "push loop VAL(x + y)": changes(z.eq(joined)),
            "push loop VAL(z + y)": changes(z.eq(added)),
            "push sum VAL(y) and the stop token": push(sum=value(y), stop=end),
            "push sum VAL(x + y) and the stop token": push(sum=value(joined), stop=end),
            "push sum VAL(z + y) and the stop token": push(sum=value(added), stop=end),
            "push both": push(sum=sum.as_value(), stop=end),
        },
        same=looped_alone(at, looped, z)
        & (at.state["have"] == have)
        & ~(have & looped)
        & (~have | (at.state["x"] == x)),
    )


def _emit(at: Bench) -> Reading:
    sum, stop = at.heads["sum"], at.heads["stop"]
    half = Signal()
    for name in ("sum", "stop"):
        stays(at, name)
    there = at.component.i.sum.valid & at.component.i.stop.valid
    with_stop = (sum.kind == TokenKind.VAL) & (stop.kind == TokenKind.STOP)
    return Reading(
        columns=[
            (["sum"], kinds(sum)),
            (["stop"], kinds(stop)),
            ([], {"": 1, "`half`": half, "not `half`": ~half}),
        ],
        firings={
            "take both": take("sum", "stop"),
            "push VAL(x)": push(val=sum.as_value()),
            "push the STOP": push(val=stop.as_value()),
            "push DONE": push(val=DONE),
            "half := true": changes(half.eq(1)),
            "half := false": changes(half.eq(0)),
        },
        same=(at.state["whole.half"] == half) & (~half | (there & with_stop)),
    )


def _reduce() -> ReduceScalar:
    return ReduceScalar(arch=SHORT, value_type=value_type("i8"), op="max")


def _sum() -> BlockSum:
    return BlockSum(arch=SHORT, value_type=value_type("f8e4m3"), op="sum")


ACTORS = (
    Actor(
        "accumulate of reduce_scalar",
        table("reduce_scalar", "accumulate"),
        with_cut_steps(lambda: _reduce().sums),
        _accumulate,
    ),
    Actor(
        "mark of reduce_scalar", table("reduce_scalar", "mark"), with_cut_steps(lambda: _sum().mark), _mark
    ),
    Actor(
        "pair of reduce_scalar",
        table("reduce_scalar", "pair0*, *pair1*, *pair2"),
        with_cut_steps(lambda: _sum().pairs[0]),
        _pair,
    ),
    Actor(
        "chain of reduce_scalar",
        table("reduce_scalar", "chain"),
        with_cut_steps(lambda: _sum().chain),
        _sum_chain,
    ),
    Actor(
        "emit of reduce_scalar",
        table("reduce_scalar", "emit"),
        lambda: Part(_reduce, ["sum", "stop"], ["sum", "stop"], ["val"]),
        _emit,
    ),
)
