"""recur: its four rounds, and what joins its blocks."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Const, Mux, Signal

from samhw.graph.numerics import value_type
from samhw.primitives.recur.component import Recur
from samhw.rtl.token import TokenKind, is_payload, same_token
from tests.formal.actors.words import DONE, changes, computed, inside_block, looped_alone, push, take, value
from tests.formal.cut import SHORT, with_cut_steps
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]


def _recur_spread(bit: int) -> Callable[[Bench], Reading]:
    def read(at: Bench) -> Reading:
        factor, head, step = at.heads["factor"], at.heads["val"], at.component.step
        n, p, x = Signal(4), Signal(8), Signal(8)
        r, y = factor.payload, head.payload
        set_ = n[bit]
        whole = bit == 3
        results = {
            "factor": value(Mux(set_, computed(at.m, step, "factor", p=p, r=r), r)),
            "val": value(Mux(set_, computed(at.m, step, "result", h=x, r=r, x=y), y)),
        }
        ends = {"factor": factor.as_value(), "val": head.as_value()}
        copies = {"factor": "factors", "val": "values"} if whole else {}
        element = {name: (Const(1), token) for name, token in results.items()}
        element |= {copy: (n == 15, results[name]) for name, copy in copies.items()}
        end = {name: (Const(1), token) for name, token in ends.items()}
        end |= {copy: (Const(1), ends[name]) for name, copy in copies.items()}
        starts = (n[:bit].all() if bit else Const(1)) & ~set_
        elements = is_payload(factor) & is_payload(head)
        words = {
            "payloads r, y": elements,
            "the same STOP, or DONE": ~is_payload(head) & same_token(factor, head),
        }
        return Reading(
            columns=[(["factor", "val"], words)],
            firings={
                "take": take("factor", "val"),
                "push (p · r, x · r + y) if bit k of n is set, else (r, y), both as VAL": Does(
                    pushes=element
                ),
                "if the bits below k are set, and bit k is not, p := r, x := y": changes(
                    p.eq(Mux(starts, r, p)), x.eq(Mux(starts, y, x))
                ),
                "n := (n + 1) mod 16": changes(n.eq(n + 1)),
                "push it on both": Does(pushes=end),
                "n := 0": changes(n.eq(0)),
            },
            same=(at.state["place"] == n) & (~set_ | ((step.p == p) & (step.h == x))),
        )

    return read


def _recur_chain(at: Bench) -> Reading:
    factor, head = at.heads["factors"], at.heads["values"]
    looped, z = Signal(), Signal(8)
    r, y = factor.payload, head.payload
    both = computed(at.m, at.component.step, "result", h=z, r=r, x=y)
    first, next_ = (
        Does(pushes={"carry": (Const(1), value(word))}, changes=[z.eq(word)]) for word in (y, both)
    )
    return Reading(
        columns=[
            (["factors", "values"], kinds(head)),
            ([], {"": 1, "`looped`": looped, "not `looped`": ~looped}),
        ],
        firings={
            **dict.fromkeys(
                ("take", "take, and loop VAL(z)", "take, and loop if `looped`"), take("factors", "values")
            ),
            "push VAL(y) on `carry` and `loop`": first,
            "push VAL(z · r + y) on `carry` and `loop`, r from `factors`": next_,
            "push DONE on `carry`": push(carry=DONE),
            "looped := true": changes(looped.eq(1)),
            "looped := false": changes(looped.eq(0)),
        },
        same=looped_alone(at, looped, z),
    )


def _recur_add(at: Bench) -> Reading:
    factor, head, carry = at.heads["factor"], at.heads["val"], at.heads["carry"]
    n, behind, z = Signal(4), Signal(), Signal(8)
    r, y = factor.payload, head.payload
    carried = behind & (n == 0)
    before = Mux(n == 0, carry.payload, z)
    added = computed(at.m, at.component.step, "result", h=before, r=r, x=y)
    # "where it is taken: at `behind` and n = 0, and at DONE."
    takes = {"factor": Const(1), "val": Const(1), "carry": carried | (head.kind == TokenKind.DONE)}
    return Reading(
        columns=[
            (["factor", "val"], kinds(head)),
            ([], {"": 1, "not `behind`": ~behind, "`behind`": behind}),
        ],
        firings={
            "take": Does(takes=takes),
            "push VAL(y)": push(val=value(y)),
            "z := carry if n = 0": changes(z.eq(before)),
            "push VAL(z · r + y), r from `factor4`": push(val=value(added)),
            "push it": push(val=head.as_value()),
            "behind := (n = 15)": changes(behind.eq(n == 15)),
            "behind := false": changes(behind.eq(0)),
            "n := (n + 1) mod 16": changes(n.eq(n + 1)),
            "n := 0": changes(n.eq(0)),
        },
        same=inside_block(at, n, behind, z),
    )


def _recur() -> Recur:
    return Recur(arch=SHORT, value_type=value_type("f8e4m3"))


def _spread(bit: int) -> object:
    return _recur().spreads[bit]


ACTORS = (
    *(
        Actor(
            f"spread{k} of recur",
            table("recur", "spread k"),
            with_cut_steps(partial(_spread, k)),
            _recur_spread(k),
        )
        for k in range(4)
    ),
    Actor("chain of recur", table("recur", "chain"), with_cut_steps(lambda: _recur().chain), _recur_chain),
    Actor("add of recur", table("recur", "add"), with_cut_steps(lambda: _recur().add), _recur_add),
)
