"""running: its one actor, those of its blocks, and *delay*."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Signal

from docs.rules import rows
from samhw.graph.numerics import value_type
from samhw.primitives.running.component import Running, _Delay
from samhw.primitives.running_blocks.component import RunningBlocks
from samhw.rtl.token import is_payload
from tests.formal.actors.words import inside_block, joined, looped_alone
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.firings import Actor, Bench
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]


def _running(at: Bench) -> Meaning:
    """*accumulate* of running."""
    acc, first = Signal(8), Signal(init=1)
    same = (at.state["first"] == first) & (at.state["acc"] == acc)
    return Meaning(at, {"acc": acc, "first": first, "op": joined(at)}, same=same)


def _delay(at: Bench) -> Meaning:
    start = at.component.start
    x = Signal(8, init=start)
    return Meaning(at, {"x": x, "start": start}, same=at.state["x"] == x)


def _spread(bit: int) -> Callable[[Bench], Meaning]:
    """Of running."""

    def read(at: Bench) -> Meaning:
        n, x = Signal(3), Signal(8)
        ends = ~is_payload(at.heads["val"]) | (n == 7)
        return Meaning(
            at,
            {"n": n, "x": x, "k": bit, "op": joined(at)},
            copies={"val": ("total", ends)} if bit == 2 else {},
            same=(at.state["place"] == n) & (~n[bit] | (at.state["x"] == x)),
        )

    return read


def _running_chain(at: Bench) -> Meaning:
    looped, z = Signal(), Signal(8)
    names = {"looped": looped, "op": joined(at)}
    return Meaning(at, names, loops={"loop": z}, same=looped_alone(at, looped, z))


def _running_add(at: Bench) -> Meaning:
    n, behind, z = Signal(3), Signal(), Signal(8)
    names = {"n": n, "behind": behind, "z": z, "op": joined(at)}
    # *chain* gives as many sums as there are whole blocks, and DONE after them.
    return Meaning(at, names, ports={"val3": "val"}, same=inside_block(at, n, behind, z))


def _blocks() -> RunningBlocks:
    return RunningBlocks(arch=SHORT, value_type=value_type("f8e4m3"), op="sum")


def _round(bit: int) -> object:
    return _blocks().spreads[bit]


ACTORS = (
    Actor(
        "accumulate of running",
        rows("running", "accumulate"),
        with_cut_steps(lambda: Running(arch=SHORT, value_type=value_type("i8"), op="max").values),
        _running,
        latency=2,
    ),
    Actor("delay of running", rows("running", "delay"), lambda: _Delay(8, latency=1, start=5), _delay),
    *(
        Actor(
            f"spread{k} of running",
            rows("running", "spread"),
            with_cut_steps(partial(_round, k)),
            _spread(k),
        )
        for k in range(3)
    ),
    Actor(
        "chain of running", rows("running", "chain"), with_cut_steps(lambda: _blocks().chain), _running_chain
    ),
    Actor("add of running", rows("running", "add"), with_cut_steps(lambda: _blocks().add), _running_add),
)
