"""Integers and fixed point against Python's integers and fractions."""

from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.graph.numerics import ARITY, OVERFLOW, value_type

TYPES = ["i8", "i16", "i32", "fixed<16,8>", "fixed<8,0>", "fixed<32,31>", "fixed<24,12>"]


def expected(name: str, op: str, *words: int) -> int:
    """The definition in exact arithmetic."""
    kind = value_type(name)
    scale = Fraction(1, 1 << getattr(kind, "fraction", 0))
    a, *rest = [Fraction(w - (1 << kind.width) if w >> kind.width - 1 else w) * scale for w in words]
    b = rest[0] if rest else a
    exact = {"add": a + b, "sub": a - b, "mul": a * b, "max": max(a, b), "min": min(a, b), "neg": -a}[
        op
    ] / scale
    whole = floor(exact)
    rest_ = exact - whole
    rounded = whole + (rest_ > Fraction(1, 2) or (rest_ == Fraction(1, 2) and whole % 2 == 1))
    lowest, highest = -(1 << kind.width - 1), (1 << kind.width - 1) - 1
    if lowest <= rounded <= highest:
        return rounded % (1 << kind.width)
    if not kind.saturates:
        return OVERFLOW
    return (highest if rounded > 0 else lowest) % (1 << kind.width)


@st.composite
def operations(draw: st.DrawFn) -> tuple[str, str, list[int]]:
    name = draw(st.sampled_from(TYPES))
    width = value_type(name).width
    special = st.sampled_from(
        [0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1, (1 << width - 1) + 1]
    )
    word = st.integers(0, (1 << width) - 1) | special
    op = draw(st.sampled_from(sorted(ARITY)))
    return name, op, [draw(word) for _ in range(ARITY[op])]


@given(operations())
def test_operations_are_exact(case: tuple[str, str, list[int]]) -> None:
    name, op, words = case
    kind = value_type(name)
    want = expected(name, op, *words)
    assert kind.scalar(op)(*words) == want
    assert kind.apply(op, *(np.array([w]) for w in words)).tolist() == [want]


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("i8", "add"),
        ("i8", "sub"),
        ("i8", "mul"),
        ("i8", "neg"),
        ("fixed<8,4>", "mul"),
        ("fixed<8,7>", "mul"),
    ],
)
def test_every_pair_of_eight_bits(name: str, op: str) -> None:
    kind = value_type(name)
    words = list(product(range(256), repeat=ARITY[op]))
    want = [expected(name, op, *row) for row in words]
    assert kind.apply(op, *np.array(words).T).tolist() == want
    scalar = kind.scalar(op)
    assert [scalar(*row) for row in words] == want


@given(st.sampled_from(TYPES), st.lists(st.integers(-(2**40), 2**40)))
def test_encode_then_decode(name: str, numbers: list[int]) -> None:
    kind = value_type(name)
    values = kind.decode(kind.encode(np.array(numbers) * 0))
    assert not values.any()
    words = np.array(numbers, dtype=np.int64) % (1 << kind.width)
    assert np.array_equal(kind.encode(kind.decode(words)), words)


def test_fixed_rounds_to_even_and_saturates() -> None:
    kind = value_type("fixed<8,1>")
    assert kind.decode(kind.encode([0.25, 0.75, -0.25, 1e9, -1e9])).tolist() == [0, 1, 0, 63.5, -64]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["i32", "fixed<16,8>"])
def test_what_has_no_word_is_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match="NaN or infinity"):
        value_type(name).encode([1.0, value])


def test_integers_refuse_fractions_and_what_is_too_large() -> None:
    with pytest.raises(InputError, match=r"2\.5, which is no integer"):
        value_type("i8").encode([1, 2.5])
    with pytest.raises(InputError, match="beyond i8"):
        value_type("i8").encode([128])


@pytest.mark.parametrize("name", ["i64", "fixed<4,2>", "fixed<16,16>", f"fixed<{'9' * 5000},1>", "float", ""])
def test_unknown_types(name: str) -> None:
    with pytest.raises(InputError):
        value_type(name)
