"""Floating-point arithmetic against NumPy's float32 and the types of ml_dtypes, to the bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from samhw.graph.numerics.float import Float
from tests.support.words import (
    BF16,
    F16,
    F32,
    NARROW,
    TYPES,
    from_numpy,
    pairs,
    product,
    quotient,
    random_pairs,
    specials,
)

ROUNDED: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": product,
    "div": quotient,
    "sqrt": np.sqrt,
}

EXACT: dict[str, Callable[..., Any]] = {
    # NumPy leaves open which zero it takes.
    "max": lambda a, b: np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), np.maximum(a, b)),
    "min": lambda a, b: np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), np.minimum(a, b)),
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "select": lambda a, b: np.where(a != 0, b, a),
    "leaky_relu": lambda a, b: np.where(np.signbit(a), product(a, b), a),
    "neg": np.negative,
    "abs": np.abs,
    "rint": np.rint,
    "relu": lambda a: np.where(a <= 0, np.zeros_like(a), a),
}

UNARY = {"sqrt", "neg", "abs", "relu", "rint"}


def assert_equal(kind: Float, op: str, a: np.ndarray, b: np.ndarray) -> None:
    operands = (a,) if op in UNARY else (a, b)
    want = from_numpy(kind, {**ROUNDED, **EXACT}[op], *operands)
    # select(a, b, a): the condition is one of the values.
    got = kind.apply(op, *operands, a) if op == "select" else kind.apply(op, *operands)
    wrong = np.flatnonzero(got != want)
    if wrong.size:
        first = wrong[0]
        words = ", ".join(hex(x[first]) for x in operands)
        pytest.fail(f"{op} of {words} is {hex(want[first])}, not {hex(got[first])}")


@pytest.mark.parametrize("op", ROUNDED | EXACT)
@pytest.mark.parametrize("kind", [*TYPES, F16, *NARROW], ids=str)
def test_every_pair_of_special_values(kind: Float, op: str) -> None:
    assert_equal(kind, op, *pairs(specials(kind)))


@pytest.mark.parametrize("op", ["mul", "div", "leaky_relu"])
@pytest.mark.parametrize("kind", [*TYPES, F16, *NARROW], ids=str)
def test_single_words_of_special_values(kind: Float, op: str) -> None:
    a, b = pairs(specials(kind))
    scalar = kind.scalar(op)
    got = [scalar(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert got == kind.apply(op, a, b).tolist()


@pytest.mark.parametrize("op", ROUNDED | EXACT)
@pytest.mark.parametrize("kind", [*TYPES, F16], ids=str)
def test_random_pairs(kind: Float, op: str) -> None:
    for a, b in random_pairs(kind, 1 << 18):
        assert_equal(kind, op, a, b)


@pytest.mark.slow
@pytest.mark.parametrize("op", ROUNDED)
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_ten_million_pairs(kind: Float, op: str) -> None:
    for a, b in random_pairs(kind, 10_000_000):
        assert_equal(kind, op, a, b)


@pytest.mark.parametrize("op", sorted(UNARY))
@pytest.mark.parametrize("kind", [BF16, F16], ids=str)
def test_every_word_of_sixteen_bits(kind: Float, op: str) -> None:
    words = np.arange(1 << 16)
    assert_equal(kind, op, words, words)


def test_flush_rounds_first() -> None:
    """What IEEE rounds up to the smallest normal number stays, also where a wider exponent would not."""
    smallest, half = 0x00800000, 0x3F000000
    multiply = F32.scalar("mul")
    assert multiply(0x00FFFFFF, half) == smallest
    assert multiply(0x00FFFFFE, half) == 0
    assert multiply(0x80FFFFFE, half) == 0x80000000
    assert F32.scalar("div")(0x00FFFFFF, 0x40000000) == smallest
    # (1 + 2**-23) * (1 - 2**-23) * 2**-126 is below it and rounds to it.
    assert multiply(0x00800001, 0x3F7FFFFE) == smallest


@pytest.mark.parametrize(
    ("a", "b", "product", "quotient"),
    [
        (0, np.inf, 0, 0),
        (-0.0, np.inf, -0.0, -0.0),
        (0, -np.inf, -0.0, -0.0),
        (-0.0, -np.inf, 0, 0),
        (0, np.nan, 0, 0),
        (-0.0, np.nan, 0, 0),
        (0, 0, 0, 0),
        (0, -0.0, -0.0, -0.0),
        (-0.0, -0.0, 0, 0),
        (0, -3, -0.0, -0.0),
        (np.inf, 0, 0, np.inf),
        (-np.inf, 0, -0.0, -np.inf),
        (np.nan, 0, 0, np.nan),
        (np.nan, -0.0, 0, np.nan),
        (3, -0.0, -0.0, -np.inf),
        (np.inf, -np.inf, -np.inf, np.nan),
        (np.nan, np.inf, np.nan, np.nan),
    ],
)
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_zero_wins(kind: Float, a: float, b: float, product: float, quotient: float) -> None:
    x, y, times, by = (int(word) for word in kind.encode([a, b, product, quotient]))
    assert kind.scalar("mul")(x, y) == kind.apply("mul", [x], [y])[0] == times
    assert kind.scalar("div")(x, y) == kind.apply("div", [x], [y])[0] == by


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_slope_of_zero(kind: Float) -> None:
    """It makes a zero of -infinity; NaN is not negative, whatever its sign bit."""
    words = kind.encode([-np.inf, np.inf, np.nan])
    got = kind.apply("leaky_relu", [*words, words[2] | kind.format.sign], [0] * 4)
    assert np.array_equal(got, kind.encode([-0.0, np.inf, np.nan, np.nan]))


def test_negative_zero() -> None:
    add, sub, multiply = (F32.scalar(op) for op in ("add", "sub", "mul"))
    minus_zero, one, minus_one = 0x80000000, 0x3F800000, 0xBF800000
    assert add(minus_zero, minus_zero) == minus_zero
    assert add(minus_zero, 0) == 0
    assert add(one, minus_one) == 0
    assert sub(minus_zero, 0) == minus_zero
    assert multiply(minus_one, 0) == minus_zero
    assert F32.scalar("max")(minus_zero, 0) == F32.scalar("max")(0, minus_zero) == 0
    assert F32.scalar("min")(minus_zero, 0) == F32.scalar("min")(0, minus_zero) == minus_zero
    assert F32.scalar("relu")(minus_zero) == 0
    assert F32.scalar("sqrt")(minus_zero) == minus_zero
