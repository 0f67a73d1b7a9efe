"""recur: its four rounds, and what joins its blocks."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Signal

from docs.rules import rows
from samhw.graph.numerics import value_type
from samhw.primitives.recur.component import Recur
from samhw.rtl.token import is_payload
from tests.formal.actors.words import inside_block, joined, looped_alone
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]


_STEP = "h r x"
"""The operands of h · r + x."""


def _recur_spread(bit: int) -> Callable[[Bench], Meaning]:
    def read(at: Bench) -> Meaning:
        step = at.component.step
        n, p, x = Signal(4), Signal(8), Signal(8)
        ends = ~is_payload(at.heads["val"]) | (n == 15)
        names = {"n": n, "p": p, "x": x, "k": bit}
        return Meaning(
            at,
            {**names, "times": joined(at, "p r", "factor"), "next": joined(at, _STEP)},
            copies={"factor": ("factors", ends), "val": ("values", ends)} if bit == 3 else {},
            same=(at.state["place"] == n) & (~n[bit] | ((step.p == p) & (step.h == x))),
        )

    return read


def _recur_chain(at: Bench) -> Meaning:
    looped, z = Signal(), Signal(8)
    names = {"looped": looped, "next": joined(at, _STEP)}
    return Meaning(at, names, loops={"loop": z}, same=looped_alone(at, looped, z))


def _recur_add(at: Bench) -> Meaning:
    n, behind, z = Signal(4), Signal(), Signal(8)
    names = {"n": n, "behind": behind, "z": z, "next": joined(at, _STEP)}
    ports = {"val4": "val", "factor4": "factor"}
    return Meaning(at, names, ports=ports, same=inside_block(at, n, behind, z))


def _recur() -> Recur:
    return Recur(arch=SHORT, value_type=value_type("f8e4m3"))


def _spread(bit: int) -> object:
    return _recur().spreads[bit]


ACTORS = (
    *(
        Actor(
            f"spread{k} of recur",
            rows("recur", "spread"),
            with_cut_steps(partial(_spread, k)),
            _recur_spread(k),
        )
        for k in range(4)
    ),
    Actor("chain of recur", rows("recur", "chain"), with_cut_steps(lambda: _recur().chain), _recur_chain),
    Actor("add of recur", rows("recur", "add"), with_cut_steps(lambda: _recur().add), _recur_add),
)
