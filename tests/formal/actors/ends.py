"""Where runs begin and end: root, step_ref and the writers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from amaranth.hdl import Assume, Const, Mux, Signal, Value, ValueLike, signed

from samhw.primitives.root.component import Root
from samhw.primitives.step_ref.component import StepRef
from samhw.primitives.write_at.component import WriteAt
from samhw.primitives.write_compressed.component import WriteCompressed
from samhw.primitives.write_dense.component import WriteDense
from samhw.primitives.write_val.component import WriteVal
from samhw.rtl.actor import Error
from samhw.rtl.token import TokenKind, is_payload, stop_lo
from tests.formal.actors.words import DONE, EMPTY, changes, reports, take, value
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import numbered, prose

__all__ = ["ACTORS"]

_PLACES = 3
"""Of each memory."""


def _begins(at: Bench, firings: Callable[[Signal], Mapping[str, Does]]) -> Reading:
    """Two firings after each start, which comes while the actor rests."""
    left = Signal(range(3))
    start = at.component.start
    at.m.d.comb += Assume(~start | (left == 0))
    with at.m.If(start):
        at.m.d.sync += left.eq(2)
    return Reading(
        columns=[([], {"first firing": left == 2, "second firing": left == 1})],
        firings=firings(left),
        same=(left < 3) & (at.state["value_due"] == (left == 2)) & (at.state["done_due"] == (left != 0)),
    )


def _root(at: Bench) -> Reading:
    def firings(left: Signal) -> Mapping[str, Does]:
        return {
            "push VAL(0)": Does(pushes={"out": (Const(1), value(0))}, changes=[left.eq(1)]),
            "push DONE, and the root rests until the next start": Does(
                pushes={"out": (Const(1), DONE)}, changes=[left.eq(0)]
            ),
        }

    return _begins(at, firings)


def _step_ref(at: Bench) -> Reading:
    step = at.component

    def firings(left: Signal) -> Mapping[str, Does]:
        p = Signal(signed(12))
        s = step.repeat
        first = step.down - 1 - s if step.is_down else s
        is_there = (p >= 0) & (p < step.extent) if step.bounded else p == 0
        at.m.d.comb += p.eq(first + step.offset)
        token = Mux(is_there, value(p[:8]), EMPTY)
        return {
            "push VAL(p) if it is there, else EMPTY": Does(
                pushes={"ref": (Const(1), token)}, changes=[left.eq(1)]
            ),
            "push DONE, and it rests until the next start": Does(
                pushes={"ref": (Const(1), DONE)}, changes=[left.eq(0)]
            ),
        }

    return _begins(at, firings)


def _commits(at: Bench, port: str) -> Value:
    """A writer has committed when it fires on DONE."""
    head = at.heads[port]
    return at.component.committed == (at.component.fired & (head.kind == TokenKind.DONE))


def _restart(at: Bench, port: str, *counters: Signal) -> None:
    """After DONE an actor is in its start state again."""
    with at.m.If(at.component.fired & (at.heads[port].kind == TokenKind.DONE)):
        at.m.d.sync += [counter.eq(0) for counter in counters]


def _stores(memory: object, when: Value, place: ValueLike, word: ValueLike) -> Value:
    """In this cycle, and in no other one."""
    port: Any = memory
    return (port.en == when) & (~when | ((port.addr == place) & (port.data == word)))


def _write_compressed(at: Bench) -> Reading:
    head = at.heads["crd"]
    n, f = Signal(range(_PLACES + 1)), Signal(range(_PLACES + 1))
    at.m.d.comb += Assume(head.kind != TokenKind.EMPTY)
    _restart(at, "crd", n, f)
    crd_fits, pos_fits = n < _PLACES, f + 1 < _PLACES
    stop = head.kind == TokenKind.STOP
    crd, pos, zero = "crd[n] := c", "pos[f+1] := n", "pos[0] := 0"

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        full = (happens[crd] & ~crd_fits) | (happens[pos] & ~pos_fits)
        return [
            _stores(at.component.mem_crd, happens[crd] & crd_fits, n, head.payload),
            _stores(
                at.component.mem_pos,
                (happens[pos] & pos_fits) | happens[zero],
                Mux(happens[zero], 0, f + 1),
                Mux(happens[zero], 0, n),
            ),
            reports(at, Error.CAPACITY) == full,
            _commits(at, "crd"),
        ]

    return Reading(
        columns=[
            (["crd"], kinds(head) | {"STOP with lo = 0": stop & (stop_lo(head) == 0), "Other STOP": stop})
        ],
        firings={
            "take": take("crd"),
            crd: Does(),
            pos: Does(),
            zero: Does(),
            "n := n+1": changes(n.eq(n + crd_fits)),
            "f := f+1": changes(f.eq(f + pos_fits)),
        },
        same=(at.state["coordinates"] == n) & (at.state["next_fiber"] == f + 1) & (f < _PLACES),
        promises=promises,
    )


def _write_dense(at: Bench) -> Reading:
    head = at.heads["crd"]
    n = Signal(8)
    # A list ends with a stop, after which nothing has come.
    at.m.d.comb += [Assume(head.kind != TokenKind.EMPTY), Assume((head.kind != TokenKind.DONE) | (n == 0))]
    stop = head.kind == TokenKind.STOP
    next_ = "c must be the next of 0, 1, … in its fiber, else `range` error"
    all_ = "the fiber must have had N(x) coordinates, else `range` error"

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        wrong = (happens[next_] & (head.payload != n)) | (happens[all_] & (n != at.component.extent))
        return [reports(at, Error.RANGE) == wrong, _commits(at, "crd")]

    words = {
        "STOP with lo = 0": stop & (stop_lo(head) == 0),
        "Other STOP, DONE": stop | (head.kind == TokenKind.DONE),
    }
    return Reading(
        columns=[(["crd"], kinds(head) | words)],
        firings={"take": take("crd"), next_: changes(n.eq(n + 1)), all_: changes(n.eq(0))},
        same=at.state["expected"] == n,
        promises=promises,
    )


def _write_val(at: Bench) -> Reading:
    head = at.heads["val"]
    n = Signal(range(_PLACES + 1))
    fits = n < _PLACES
    _restart(at, "val", n)
    store, step = "vals[n] := x", "n := n+1 (`capacity` error beyond the memory)"

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        return [
            _stores(at.component.mem_vals, happens[store] & fits, n, head.payload),
            reports(at, Error.CAPACITY) == (happens[store] & ~fits),
            _commits(at, "val"),
        ]

    return Reading(
        columns=[(["val"], kinds(head) | {"Payload x": is_payload(head)})],
        firings={"take": take("val"), store: Does(), step: changes(n.eq(n + fits))},
        same=at.state["values"] == n,
        promises=promises,
    )


def _write_at(at: Bench) -> Reading:
    ref, val = at.heads["ref"], at.heads["val"]
    both = (ref.kind == TokenKind.VAL) & is_payload(val)
    fits = ref.payload < _PLACES
    store = "vals[r] := x"

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        return [
            _stores(at.component.mem_vals, happens[store] & fits, ref.payload, val.payload),
            reports(at, Error.RANGE) == (happens[store] & ~fits),
            _commits(at, "ref"),
        ]

    words = {
        "VAL(r) with a payload x": both,
        "The same STOP on both, or DONE on both": ~is_payload(ref) & (ref.as_value() == val.as_value()),
    }
    return Reading(
        columns=[(["ref", "val"], words)],
        firings={"take both": take("ref", "val"), store: Does()},
        promises=promises,
    )


ACTORS = (
    Actor("root", numbered("root"), lambda: Root(arch=SHORT, stall_port=True), _root),
    *(
        Actor(
            f"step_ref, {name}",
            numbered("step_ref"),
            partial(StepRef, arch=SHORT, offset=offset, bounded=bounded, down=down, stall_port=True),
            _step_ref,
        )
        for name, offset, bounded, down in (
            ("up", 1, True, False),
            ("down", -1, True, True),
            ("the first step", -2, False, False),
        )
    ),
    Actor(
        "write_compressed",
        prose("write_compressed"),
        lambda: WriteCompressed(arch=SHORT, pos_capacity=_PLACES, crd_capacity=_PLACES, stall_port=True),
        _write_compressed,
    ),
    Actor("write_dense", prose("write_dense"), lambda: WriteDense(arch=SHORT, stall_port=True), _write_dense),
    Actor(
        "write_val",
        prose("write_val"),
        lambda: WriteVal(arch=SHORT, stored_width=8, vals_capacity=_PLACES, stall_port=True),
        _write_val,
    ),
    Actor(
        "write_at",
        prose("write_at"),
        lambda: WriteAt(arch=SHORT, stored_width=8, vals_capacity=_PLACES, stall_port=True),
        _write_at,
    ),
)
