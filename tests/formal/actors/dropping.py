"""What drops coordinates: drop_crd and drop_val."""

from collections.abc import Callable
from functools import partial

from amaranth.hdl import Assume, Mux, Signal, Value
from amaranth.lib import data

from docs.rules import rows
from samhw.graph.numerics import value_type
from samhw.primitives.drop_crd.component import DropCrd
from samhw.primitives.drop_val.component import DropVal
from samhw.rtl.logic import all_of
from samhw.rtl.token import TokenKind, stop_hi, stop_lo, stop_token, token_layout
from tests.formal.cut import SHORT
from tests.formal.firings import Actor, Bench, Does
from tests.formal.rules import Meaning, token

__all__ = ["ACTORS"]


def _drop_val(is_zero: Callable[[Value], Value], width: int) -> Callable[[Bench], Meaning]:
    """Of blocks of two values of this many bits."""

    def read(at: Bench) -> Meaning:
        def zeros(val: data.View) -> Value:
            words = all_of(is_zero(val.payload.word_select(n, width)) for n in range(2))
            return (val.kind == TokenKind.EMPTY) | words

        return Meaning(at, {"is_zero": zeros})

    return read


def _is_number_0(word: Value) -> Value:
    return word == 0


def _is_float_0(word: Value) -> Value:
    """Of a type with subnormal numbers: the word is 0 but for its sign."""
    return word[:7] == 0


def _is_tiny(word: Value) -> Value:
    """Of bf16, whose exponent field has eight bits."""
    return word[7:15] == 0


def _drop_crd(at: Bench) -> Meaning:
    inner = at.heads["inner"]
    have, gone, pends = Signal(), Signal(), Signal()
    pend = Signal(token_layout(8))
    # A list without fibers ends after a stop, so that no coordinate has been passed on since.
    at.m.d.comb += Assume(~have | (inner.kind != TokenKind.STOP) | (stop_lo(inner) == 0))

    def emit(y: object) -> Does:
        """As the rule says of *emit y*."""
        word = token(y)
        is_held = ~pends & (word == stop_token(0, 0))
        return Does(
            pushes={"inner": (~is_held, Mux(pends, pend.as_value(), word))},
            changes=[pends.eq(pends | is_held), pend.eq(Mux(pends | is_held, word, pend))],
        )

    names = {
        "have": have,
        "gone": gone,
        "pend": pend,
        "pending": pends,
        "pend_is": lambda word: pends & (pend.as_value() == word),
        "emit": emit,
    }
    return Meaning(
        at,
        names,
        same=(at.state["have"] == have)
        & (at.state["gone"] == gone)
        & (at.state["pending"] == pends)
        & (~pends | (at.state["pend"] == pend.as_value()))
        & ((pend.kind != TokenKind.STOP) | (stop_lo(pend) <= stop_hi(pend))),
    )


ACTORS = (
    Actor("drop_crd", rows("drop_crd"), lambda: DropCrd(arch=SHORT), _drop_crd),
    *(
        Actor(
            f"drop_val, {name}",
            rows("drop_val"),
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
