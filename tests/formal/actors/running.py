"""running: its one actor, those of its blocks, and *delay*."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Const, Mux, Signal

from samhw.graph.numerics import value_type
from samhw.primitives.running.component import Running, _Delay
from samhw.primitives.running_blocks.component import RunningBlocks
from samhw.rtl.token import is_payload
from tests.formal.actors.words import DONE, changes, computed, inside_block, looped_alone, push, take, value
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]


def _running(at: Bench) -> Reading:
    """*accumulate* of running."""
    head, step = at.heads["val"], at.component.step
    acc, first = Signal(8), Signal(init=1)
    grown = Mux(first, head.payload, computed(at.m, step, "result", a=acc, b=head.payload))
    return Reading(
        columns=[(["val"], kinds(head))],
        firings={
            "take": take("val"),
            "acc := x if first, else op(acc, x)": changes(acc.eq(grown)),
            "first := false": changes(first.eq(0)),
            "push VAL(acc)": push(val=value(grown)),
            "push it": push(val=head.as_value()),
            "first := true": changes(first.eq(1)),
        },
        same=(at.state["first"] == first) & (at.state["acc"] == acc),
    )


def _delay(at: Bench) -> Reading:
    head, start = at.heads["all"], at.component.start
    x = Signal(8, init=start)
    return Reading(
        columns=[(["all"], kinds(head))],
        firings={
            "take": take("all"),
            "push VAL(x)": push(val=value(x)),
            "x := y": changes(x.eq(head.payload)),
            "push it": push(val=head.as_value()),
            "x := the start": changes(x.eq(start)),
        },
        same=at.state["x"] == x,
    )


def _spread(bit: int) -> Callable[[Bench], Reading]:
    """Of running."""

    def read(at: Bench) -> Reading:
        head, step = at.heads["val"], at.component.step
        n, x = Signal(3), Signal(8)
        y = head.payload
        set_ = n[bit]
        token = value(Mux(set_, computed(at.m, step, "result", a=x, b=y), y))
        is_end = ~is_payload(head)
        copies = {"total": (n == 7, token)} if bit == 2 else {}
        ends = {"total": (is_end, head.as_value())} if bit == 2 else {}
        starts = (n[:bit].all() if bit else Const(1)) & ~set_
        return Reading(
            columns=[(["val"], kinds(head))],
            firings={
                "take": take("val"),
                "push VAL(x + y) if bit k of n is set, else VAL(y)": Does(
                    pushes={"val": (Const(1), token), **copies}
                ),
                "if the bits below k are set, and bit k is not, x := y": changes(x.eq(Mux(starts, y, x))),
                "n := (n + 1) mod 8": changes(n.eq(n + 1)),
                "push it": Does(pushes={"val": (Const(1), head.as_value()), **ends}),
                "n := 0": changes(n.eq(0)),
            },
            same=(at.state["place"] == n) & (~set_ | (at.state["x"] == x)),
        )

    return read


def _running_chain(at: Bench) -> Reading:
    head = at.heads["total"]
    looped, z = Signal(), Signal(8)
    y = head.payload
    both = computed(at.m, at.component.step, "result", a=z, b=y)
    first, next_ = (
        Does(pushes={"carry": (Const(1), value(word))}, changes=[z.eq(word)]) for word in (y, both)
    )
    return Reading(
        columns=[
            (["total"], kinds(head)),
            ([], {"": 1, "`looped`": looped, "not `looped`": ~looped}),
        ],
        firings={
            **dict.fromkeys(("take", "take it and loop", "take it and loop VAL(z)"), take("total")),
            "push VAL(y) on `carry` and `loop`": first,
            "push VAL(z + y) on `carry` and `loop`": next_,
            "push DONE on `carry`": push(carry=DONE),
            "looped := true": changes(looped.eq(1)),
            "looped := false": changes(looped.eq(0)),
        },
        same=looped_alone(at, looped, z),
    )


def _running_add(at: Bench) -> Reading:
    head, carry = at.heads["val"], at.heads["carry"]
    n, behind, z = Signal(3), Signal(), Signal(8)
    # chain gives as many sums as there are whole blocks, and DONE after them.
    y, x = head.payload, carry.payload
    joined, added = (computed(at.m, at.component.step, "result", a=a, b=y) for a in (x, z))
    step_on = n.eq(n + 1)
    with_carry = dict.fromkeys(
        ("take it and carry VAL(x)", "take it and carry", "take it and carry DONE"), take("val", "carry")
    )
    return Reading(
        columns=[
            (["val"], kinds(head)),
            (
                [],
                {
                    "": 1,
                    "else": 1,
                    "not `behind`": ~behind,
                    "`behind`, n = 0": behind & (n == 0),
                    "`behind`, n > 0": behind & (n > 0),
                },
            ),
        ],
        firings={
            "take": take("val"),
            **with_carry,
            "push VAL(y)": push(val=value(y)),
            "push VAL(x + y)": push(val=value(joined)),
            "push VAL(z + y)": push(val=value(added)),
            **dict.fromkeys(("push it", "push the STOP", "push DONE"), push(val=head.as_value())),
            "behind := (n = 7)": changes(behind.eq(n == 7)),
            "behind := false": changes(behind.eq(0)),
            "z := x": changes(z.eq(x)),
            "n := (n + 1) mod 8": changes(step_on),
            "n := 1": changes(n.eq(1)),
            "n := 0": changes(n.eq(0)),
        },
        same=inside_block(at, n, behind, z),
    )


def _blocks() -> RunningBlocks:
    return RunningBlocks(arch=SHORT, value_type=value_type("f8e4m3"), op="sum")


def _round(bit: int) -> object:
    return _blocks().spreads[bit]


ACTORS = (
    Actor(
        "accumulate of running",
        table("running", "accumulate"),
        with_cut_steps(lambda: Running(arch=SHORT, value_type=value_type("i8"), op="max").values),
        _running,
        latency=2,
    ),
    Actor("delay of running", table("running", "delay"), lambda: _Delay(8, latency=1, start=5), _delay),
    *(
        Actor(
            f"spread{k} of running",
            table("running", "spread k"),
            with_cut_steps(partial(_round, k)),
            _spread(k),
        )
        for k in range(3)
    ),
    Actor(
        "chain of running", table("running", "chain"), with_cut_steps(lambda: _blocks().chain), _running_chain
    ),
    Actor("add of running", table("running", "add"), with_cut_steps(lambda: _blocks().add), _running_add),
)
