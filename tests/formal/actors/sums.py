"""reduce_scalar: its actors."""

from amaranth.hdl import Mux, Signal

from docs.rules import rows
from samhw.graph.numerics import value_type
from samhw.primitives.block_sum.component import BlockSum
from samhw.primitives.reduce_scalar.component import ReduceScalar
from samhw.rtl.token import TokenKind
from tests.formal.actors.words import joined, looped_alone, stays
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.firings import Actor, Bench
from tests.formal.part import Part
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]


def _accumulate(at: Bench) -> Meaning:
    """Of reduce_scalar."""
    acc, first = Signal(8), Signal(init=1)
    same = (at.state["acc"] == acc) & (at.state["first"] == first)
    return Meaning(at, {"acc": acc, "first": first, "op": joined(at)}, same=same)


def _mark(at: Bench) -> Meaning:
    have, x = Signal(), Signal(8)
    same = (at.state["have"] == have) & (at.state["x"] == Mux(have, x, 0))
    return Meaning(at, {"have": have, "x": x}, same=same)


def _pair(at: Bench) -> Meaning:
    have, x = Signal(), Signal(8)
    same = (at.state["have"] == have) & (~have | (at.state["x"] == x))
    return Meaning(at, {"have": have, "x": x, "op": joined(at)}, same=same)


def _sum_chain(at: Bench) -> Meaning:
    """Of reduce_scalar."""
    have, looped, x, z = Signal(), Signal(), Signal(8), Signal(8)
    return Meaning(
        at,
        {"have": have, "looped": looped, "x": x, "op": joined(at)},
        loops={"loop": z},
        same=looped_alone(at, looped, z)
        & (at.state["have"] == have)
        & ~(have & looped)
        & (~have | (at.state["x"] == x)),
    )


def _emit(at: Bench) -> Meaning:
    sum, stop = at.heads["sum"], at.heads["stop"]
    half = Signal()
    for name in ("sum", "stop"):
        stays(at, name)
    there = at.component.i.sum.valid & at.component.i.stop.valid
    with_stop = (sum.kind == TokenKind.VAL) & (stop.kind == TokenKind.STOP)
    return Meaning(at, {"half": half}, same=(at.state["whole.half"] == half) & (~half | (there & with_stop)))


def _reduce() -> ReduceScalar:
    return ReduceScalar(arch=SHORT, value_type=value_type("i8"), op="max")


def _sum() -> BlockSum:
    return BlockSum(arch=SHORT, value_type=value_type("f8e4m3"), op="sum")


ACTORS = (
    Actor(
        "accumulate of reduce_scalar",
        rows("reduce_scalar", "accumulate"),
        with_cut_steps(lambda: _reduce().sums),
        _accumulate,
    ),
    Actor("mark of reduce_scalar", rows("reduce_scalar", "mark"), with_cut_steps(lambda: _sum().mark), _mark),
    Actor(
        "pair of reduce_scalar",
        rows("reduce_scalar", "pair"),
        with_cut_steps(lambda: _sum().pairs[0]),
        _pair,
    ),
    Actor(
        "chain of reduce_scalar",
        rows("reduce_scalar", "chain"),
        with_cut_steps(lambda: _sum().chain),
        _sum_chain,
    ),
    Actor(
        "emit of reduce_scalar",
        rows("reduce_scalar", "emit"),
        lambda: Part(_reduce, ["sum", "stop"], ["sum", "stop"], ["val"]),
        _emit,
    ),
)
