"""Where runs begin and end: root, step_ref and the writers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from amaranth.hdl import Assume, Mux, Signal, Value, ValueLike, signed

from docs.rules import rows
from samhw.primitives.root.component import Root
from samhw.primitives.step_ref.component import StepRef
from samhw.primitives.write_at.component import WriteAt
from samhw.primitives.write_compressed.component import WriteCompressed
from samhw.primitives.write_dense.component import WriteDense
from samhw.primitives.write_val.component import WriteVal
from samhw.rtl.actor import Error
from samhw.rtl.logic import any_of
from samhw.rtl.token import TokenKind
from tests.formal.actors.words import reports
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does
from tests.formal.rules import Meaning

__all__ = ["ACTORS"]

_PLACES = 3
"""Of each memory."""


def _begins(at: Bench, **names: Any) -> Meaning:
    """Two firings after each start, which comes while the actor rests."""
    left = Signal(range(3))
    start = at.component.start
    at.m.d.comb += Assume(~start | (left == 0))
    with at.m.If(start):
        at.m.d.sync += left.eq(2)
    same = (left < 3) & (at.state["value_due"] == (left == 2)) & (at.state["done_due"] == (left != 0))
    return Meaning(at, {"left": left, **names}, same=same)


def _step_ref(at: Bench) -> Meaning:
    step = at.component
    p = Signal(signed(12))
    first = step.down - 1 - step.repeat if step.is_down else step.repeat
    at.m.d.comb += p.eq(first + step.offset)
    is_there = (p >= 0) & (p < step.extent) if step.bounded else p == 0
    return _begins(at, p=p[:8], is_there=is_there)


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


def _counts(counter: Signal, fits: Value) -> Callable[[Value], Does]:
    """What a place in a memory becomes; after the last one it stays."""
    return lambda value: Does(changes=[counter.eq(Mux(fits, value, counter))])


@dataclass
class _Writes:
    """What a firing writes into a memory: noted, for the promises."""

    text: str
    place: ValueLike = 0
    word: ValueLike = 0

    def __call__(self, place: ValueLike, word: ValueLike) -> Does:
        self.place, self.word = place, word
        return Does()


def _write_compressed(at: Bench) -> Meaning:
    head = at.heads["crd"]
    n, f = Signal(range(_PLACES + 1)), Signal(range(_PLACES + 1))
    at.m.d.comb += Assume(head.kind != TokenKind.EMPTY)
    _restart(at, "crd", n, f)
    crd_fits, pos_fits = n < _PLACES, f + 1 < _PLACES
    zero = "pos[0] = 0"
    crd, pos = _Writes("crd[n] = c"), _Writes("pos[f + 1] = n")

    def writes_pos(place: ValueLike, word: ValueLike) -> Does:
        """The first place of all is written last, and fits."""
        return Does() if isinstance(place, int) else pos(place, word)

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        full = (happens[crd.text] & ~crd_fits) | (happens[pos.text] & ~pos_fits)
        return [
            _stores(at.component.mem_crd, happens[crd.text] & crd_fits, crd.place, crd.word),
            _stores(
                at.component.mem_pos,
                (happens[pos.text] & pos_fits) | happens[zero],
                Mux(happens[zero], 0, pos.place),
                Mux(happens[zero], 0, pos.word),
            ),
            reports(at, Error.CAPACITY) == full,
            _commits(at, "crd"),
        ]

    return Meaning(
        at,
        {"n": n, "f": f},
        sets={"n": _counts(n, crd_fits), "f": _counts(f, pos_fits), "crd": crd, "pos": writes_pos},
        same=(at.state["coordinates"] == n) & (at.state["next_fiber"] == f + 1) & (f < _PLACES),
        promises=promises,
    )


def _write_dense(at: Bench) -> Meaning:
    head = at.heads["crd"]
    n = Signal(8)
    # A list ends with a stop, after which nothing has come.
    at.m.d.comb += [Assume(head.kind != TokenKind.EMPTY), Assume((head.kind != TokenKind.DONE) | (n == 0))]
    conditions: list[Value] = []

    def range_error(condition: Value) -> Does:
        conditions.append(condition)
        return Does()

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        rows = ("range_error(c != n)", "range_error(n != N(x))")
        wrong = any_of(happens[row] & here for row, here in zip(rows, conditions, strict=True))
        return [reports(at, Error.RANGE) == wrong, _commits(at, "crd")]

    names = {"n": n, "N": lambda index: at.component.extent, "range_error": range_error}
    return Meaning(at, names, same=at.state["expected"] == n, promises=promises)


def _write_val(at: Bench) -> Meaning:
    n = Signal(range(_PLACES + 1))
    fits = n < _PLACES
    _restart(at, "val", n)
    vals = _Writes("vals[n] = x")

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        return [
            _stores(at.component.mem_vals, happens[vals.text] & fits, vals.place, vals.word),
            reports(at, Error.CAPACITY) == (happens[vals.text] & ~fits),
            _commits(at, "val"),
        ]

    sets = {"n": _counts(n, fits), "vals": vals}
    return Meaning(at, {"n": n}, sets=sets, same=at.state["values"] == n, promises=promises)


def _write_at(at: Bench) -> Meaning:
    fits = at.heads["ref"].payload < _PLACES
    vals = _Writes("vals[r] = x")

    def promises(happens: Mapping[str, Value]) -> list[ValueLike]:
        return [
            _stores(at.component.mem_vals, happens[vals.text] & fits, vals.place, vals.word),
            reports(at, Error.RANGE) == (happens[vals.text] & ~fits),
            _commits(at, "ref"),
        ]

    return Meaning(at, sets={"vals": vals}, promises=promises)


ACTORS = (
    Actor("root", rows("root"), lambda: Root(arch=SHORT, stall_port=True), _begins),
    *(
        Actor(
            f"step_ref, {name}",
            rows("step_ref"),
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
        rows("write_compressed"),
        lambda: WriteCompressed(arch=SHORT, pos_capacity=_PLACES, crd_capacity=_PLACES, stall_port=True),
        _write_compressed,
    ),
    Actor("write_dense", rows("write_dense"), lambda: WriteDense(arch=SHORT, stall_port=True), _write_dense),
    Actor(
        "write_val",
        rows("write_val"),
        lambda: WriteVal(arch=SHORT, stored_width=8, vals_capacity=_PLACES, stall_port=True),
        _write_val,
    ),
    Actor(
        "write_at",
        rows("write_at"),
        lambda: WriteAt(arch=SHORT, stored_width=8, vals_capacity=_PLACES, stall_port=True),
        _write_at,
    ),
)
