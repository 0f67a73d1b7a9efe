"""Floating point of eight bits: functions, conversions and widened operations, for every word."""

from collections.abc import Callable
from math import erf

import ml_dtypes
import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph.numerics import operation, value_type
from samhw.graph.numerics.float import Float
from tests.support.words import BF16, F8E4M3, F8E5M2, F32, NARROW, flush, from_numpy, pairs, product

WORDS = np.arange(1 << 8)
DTYPES = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}

EXACT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sqrt": np.sqrt,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: np.where(x == 0, 1 / x, 1 / np.sqrt(x)),
    "exp": np.exp,
    "log": np.log,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "silu": lambda x: np.where(x == -np.inf, -0.0, x / (1 + np.exp(-x))),
    "gelu": lambda x: np.where(x == -np.inf, -0.0, x * (1 + np.vectorize(erf)(x / np.sqrt(2))) / 2),
    "sin": np.sin,
    "cos": np.cos,
}


@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("kind", NARROW, ids=str)
def test_functions_are_rounded_once(kind: Float, op: str) -> None:
    """Of every word, as that of float64 is; no result is so near to a tie that f32 misses it."""
    with np.errstate(all="ignore"):
        want = kind.encode(EXACT[op](kind.decode(WORDS)))
    assert np.array_equal(kind.apply(op, WORDS), want)
    if hasattr(np, op):
        assert np.array_equal(kind.apply(op, WORDS), from_numpy(kind, getattr(np, op), WORDS))


@pytest.mark.parametrize("kind", NARROW, ids=str)
def test_constants_of_the_types(kind: Float) -> None:
    info = ml_dtypes.finfo(DTYPES[kind.name])
    f = kind.format
    assert kind.decode(f.least) == float(info.smallest_subnormal)
    assert kind.decode(f.hidden) == float(info.smallest_normal)
    assert kind.decode(f.lowest_nan - 1 - f.infinities) == float(info.max)
    assert kind.unit_roundoff == float(info.eps) / 2
    assert kind.is_zero(WORDS).nonzero()[0].tolist() == [0, 0x80]


def test_what_is_too_large() -> None:
    assert F8E4M3.encode([448, 464, 465, -1e9, np.inf]).tolist() == [0x7E, 0x7E, 0x7F, 0x7F, 0x7F]
    assert F8E5M2.encode([57344, 61439, 61440, -np.inf]).tolist() == [0x7B, 0x7B, 0x7C, 0xFC]
    # A number in a program's text is one.
    assert [F8E4M3.constant(x) for x in (1000, -1e30, 1.5)] == [0x7E, 0xFE, 0x3C]
    assert F8E5M2.constant(1e30) == 0x7C
    assert F8E4M3.scalar("div")(0x38, 0) == 0x7F


@pytest.mark.parametrize("target", [BF16, F32], ids=str)
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
@pytest.mark.parametrize("kind", NARROW, ids=str)
def test_widened(kind: Float, op: str, target: Float) -> None:
    """As NumPy computes what ml_dtypes widens. Products of e4m3 are exact in bf16."""
    numpy = {"add": np.add, "sub": np.subtract, "mul": product}[op]
    a, b = pairs(WORDS)
    wide = [target.encode(kind.decode(x)) for x in (a, b)]
    got = operation(op, kind, target).apply(a, b)
    assert np.array_equal(got, from_numpy(target, numpy, *wide))
    with np.errstate(invalid="ignore"):
        exact = kind.decode(a) * kind.decode(b)
    if op == "mul" and kind == F8E4M3:
        assert np.array_equal(target.decode(got)[np.isfinite(exact)], exact[np.isfinite(exact)])


@pytest.mark.parametrize("kind", NARROW, ids=str)
def test_there_and_back(kind: Float) -> None:
    for wider in (BF16, F32):
        wide = operation("convert", kind, wider).apply(WORDS)
        assert np.array_equal(wider.decode(wide), kind.decode(WORDS), equal_nan=True)
        assert np.array_equal(operation("convert", wider, kind).apply(wide), flush(kind, WORDS))


def test_names() -> None:
    assert (value_type("f8e4m3"), value_type("f8e5m2")) == (F8E4M3, F8E5M2)
    with pytest.raises(InputError, match=r"Unknown value type 'f8'; the types are i8, .*, f8e4m3, f8e5m2"):
        value_type("f8")


@pytest.mark.parametrize("narrow", NARROW, ids=str)
@pytest.mark.parametrize("kind", [BF16, F32], ids=str)
def test_narrowed_within_another_type(kind: Float, narrow: Float) -> None:
    """Every word of bf16, random words and those around every tie of f32, as ml_dtypes rounds them."""
    words = np.arange(1 << 16)
    if kind == F32:
        ties = np.concatenate([(words << 16) + offset for offset in (-1, 0, 1, 0x8000)]) & 0xFFFFFFFF
        words = np.concatenate([ties, np.random.default_rng(0).integers(0, 1 << 32, 100_000)])
    with np.errstate(all="ignore"):
        values = kind.decode(words).astype(np.float32)
        want = kind.encode(values.astype(DTYPES[narrow.name]).astype(np.float64))
    assert np.array_equal(kind.apply(narrow.name, words), want)


@pytest.mark.parametrize("narrow", NARROW, ids=str)
def test_products_of_what_is_narrowed_are_exact(narrow: Float) -> None:
    a, b = pairs(WORDS[~np.isnan(narrow.decode(WORDS))])
    with np.errstate(all="ignore"):
        x, y = narrow.decode(a), narrow.decode(b)
        products = x * y
    a32, b32 = F32.encode(x), F32.encode(y)
    assert np.array_equal(F32.apply(narrow.name, a32), a32)
    finite = np.isfinite(x) & np.isfinite(y)
    assert np.array_equal(F32.decode(F32.apply("mul", a32, b32))[finite], products[finite])
