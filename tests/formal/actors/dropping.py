"""What drops coordinates: drop_crd and drop_val."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Assume, Mux, Signal, Value

from samhw.graph.numerics import value_type
from samhw.primitives.drop_crd.component import DropCrd
from samhw.primitives.drop_val.component import DropVal
from samhw.rtl.logic import all_of
from samhw.rtl.token import (
    TokenKind,
    is_payload,
    stop_hi,
    stop_lo,
    stop_token,
    token_layout,
)
from tests.formal.actors.words import DONE, changes, push, take
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does, Reading, kinds
from tests.formal.page import table

__all__ = ["ACTORS"]


def _drop_val(is_zero: Callable[[Value], Value], width: int) -> Callable[[Bench], Reading]:
    """Of blocks of two values of this many bits."""

    def read(at: Bench) -> Reading:
        crd, val = at.heads["crd"], at.heads["val"]
        zeros = (val.kind == TokenKind.EMPTY) | all_of(
            is_zero(val.payload.word_select(n, width)) for n in range(2)
        )
        is_end = (crd.kind == TokenKind.STOP) | (crd.kind == TokenKind.DONE)
        same = is_end & (crd.as_value() == val.as_value())
        return Reading(
            columns=[
                (["crd"], kinds(crd) | {"the same STOP, or DONE": same}),
                (["val"], kinds(val) | {"": 1, "payload that is zero": is_payload(val) & zeros}),
            ],
            firings={
                "take both": take("crd", "val"),
                "push nothing": Does(),
                "push both": push(crd=crd.as_value(), val=val.as_value()),
            },
        )

    return read


def _is_number_0(word: Value) -> Value:
    return word == 0


def _is_float_0(word: Value) -> Value:
    """Of a type with subnormal numbers: the word is 0 but for its sign."""
    return word[:7] == 0


def _is_tiny(word: Value) -> Value:
    """Of bf16, whose exponent field has eight bits."""
    return word[7:15] == 0


def _drop_crd(at: Bench) -> Reading:
    outer, inner = at.heads["outer"], at.heads["inner"]
    have, gone, pends = Signal(), Signal(), Signal()
    pend = Signal(token_layout(8))
    lo, hi = stop_lo(inner), stop_hi(inner)
    # A list without fibers ends after a stop, so that no coordinate has been passed on since.
    at.m.d.comb += Assume(~have | (inner.kind != TokenKind.STOP) | (lo == 0))
    stop = outer.kind == TokenKind.STOP
    one_out = stop & (stop_hi(outer) == hi - 1)
    over = {
        "STOP(0, hi−1)": one_out & (stop_lo(outer) == 0),
        "STOP(lo−1, hi−1)": one_out & (stop_lo(outer) == lo - 1),
    }
    pend_is_s0 = pends & (pend.as_value() == stop_token(0, 0))
    conditions = {
        "": 1,
        "`have`": have,
        "`gone`": gone,
        "not `have`, not `gone`": ~have & ~gone,
        "`gone`, pend = S0": gone & pend_is_s0,
        "pend is set": pends,
    }

    def emit(token: Value) -> Does:
        """As the page says of *emit y on inner*."""
        is_held = ~pends & (token == stop_token(0, 0))
        return Does(
            pushes={"inner": (~is_held, Mux(pends, pend.as_value(), token))},
            changes=[pends.eq(pends | is_held), pend.eq(Mux(pends | is_held, token, pend))],
        )

    def passed(y: Value) -> dict[str, Does]:
        """The words for the head itself."""
        return dict.fromkeys(
            ("emit it", "emit the inner one", "emit STOP(0, hi)", "emit STOP(lo, hi)"), emit(y)
        )

    outer_pushes = ("push outer VAL(c)", "push outer STOP(0, hi−1)", "push outer STOP(lo−1, hi−1)")
    return Reading(
        columns=[
            (["inner"], kinds(inner)),
            ([], conditions),
            (["outer"], kinds(outer) | over),
        ],
        firings={
            "take inner": take("inner"),
            "take outer": take("outer"),
            "take both": take("inner", "outer"),
            "nothing else": Does(),
            **passed(inner.as_value()),
            "emit S0": emit(stop_token(0, 0)),
            "emit STOP(1, hi)": emit(stop_token(1, hi)),
            **dict.fromkeys(outer_pushes, push(outer=outer.as_value())),
            "pend := STOP(0, hi), nothing pushed on inner": changes(pend.eq(inner)),
            "push pend on inner": push(inner=pend.as_value()),
            "pend := none": changes(pends.eq(0)),
            "push DONE on both": push(outer=DONE, inner=DONE),
            "have := true": changes(have.eq(1)),
            "have := false": changes(have.eq(0)),
            "gone := true": changes(gone.eq(1)),
            "gone := false": changes(gone.eq(0)),
        },
        same=(at.state["have"] == have)
        & (at.state["gone"] == gone)
        & (at.state["pending"] == pends)
        & (~pends | (at.state["pend"] == pend.as_value()))
        & ((pend.kind != TokenKind.STOP) | (stop_lo(pend) <= stop_hi(pend))),
    )


ACTORS = (
    Actor("drop_crd", table("drop_crd"), lambda: DropCrd(arch=SHORT), _drop_crd),
    *(
        Actor(
            f"drop_val, {name}",
            table("drop_val"),
            partial(DropVal, arch=SHORT, value_type=value_type(name), words=2),
            _drop_val(is_zero, width),
        )
        for name, width, is_zero in (
            ("i8", 8, _is_number_0),
            ("f8e4m3", 8, _is_float_0),
            ("bf16", 16, _is_tiny),
        )
    ),
)
