"""Conversion against exact rational arithmetic."""

from fractions import Fraction
from math import inf, isinf, isnan

import numpy as np
import pytest

from samhw.graph.numerics import INTEGERS, OVERFLOW, Fixed, Integer, ValueType
from samhw.graph.numerics.float import Float
from samhw.graph.numerics.typed import convert
from tests.support.words import BF16, F16, F32, NARROW, specials

TYPES = [
    *(*INTEGERS.values(), BF16, F16, F32, *NARROW),
    *(Fixed(8, 7), Fixed(16, 8), Fixed(24, 0), Fixed(32, 16), Fixed(32, 31)),
]


def words_of(kind: ValueType) -> np.ndarray:
    if kind.width == 8:
        return np.arange(1 << 8)
    rng = np.random.default_rng(kind.width)
    top = 1 << kind.width - 1
    edges = [0, 1, 2, 3, top - 2, top - 1, top, top + 1, 2 * top - 1]
    ties = [
        int(rng.integers(0, top)) >> n << n | 1 << n - 1 for n in range(1, kind.width - 1) for _ in range(3)
    ]
    words = [*edges, *ties, *rng.integers(0, 2 * top, 200).tolist()]
    if isinstance(kind, Float):
        # Magnitudes that the other types can hold, and halves of their last places.
        f = kind.format
        words = [*specials(kind).tolist(), *words]
        words += [
            (f.bias + e << f.mantissa) + (m << f.mantissa - 3) | s
            for e in range(max(-34, -f.bias), min(34, f.bias + 1))
            for m in range(8)
            for s in (0, f.sign)
        ]
    return np.array(words)


def expected(value: float, negative_zero: bool, target: ValueType) -> int:
    if isinstance(target, Float):
        if isnan(value):
            return target.format.nan
        # Every other type's values are exact in float64, so that encode rounds once.
        return int(target.encode(-0.0 if negative_zero else value))
    assert isinstance(target, Integer | Fixed)
    if isnan(value):
        return 0 if target.saturates else OVERFLOW
    if isinf(value):
        rounded = target.highest + 1 if value > 0 else target.lowest - 1
    else:
        rounded = round(Fraction(value) * (1 << target.fraction))
    if target.lowest <= rounded <= target.highest:
        return rounded % (1 << target.width)
    if not target.saturates:
        return OVERFLOW
    return (target.highest if rounded > 0 else target.lowest) % (1 << target.width)


@pytest.mark.parametrize("target", TYPES, ids=str)
@pytest.mark.parametrize("source", TYPES, ids=str)
def test_conversion_is_exact(source: ValueType, target: ValueType) -> None:
    words = words_of(source)
    values = source.decode(words).astype(float)
    zeros = np.signbit(values) & (values == 0)
    want = [expected(v, z, target) for v, z in zip(values.tolist(), zeros.tolist(), strict=True)]
    assert convert(words, source, target).tolist() == want
    assert [convert(word, source, target) for word in words.tolist()] == want


def test_every_bf16_widens_and_narrows() -> None:
    words = np.arange(1 << 16)
    back = convert(convert(words, BF16, F32), F32, BF16)
    assert np.array_equal(back, BF16.encode(BF16.decode(words)))


def test_every_f16_widens_and_every_tie_narrows_as_in_numpy() -> None:
    words = np.arange(1 << 16)
    wide = words.astype(np.uint16).view(np.float16).astype(np.float32)
    assert np.array_equal(F32.decode(convert(words, F16, F32)), wide.astype(np.float64), equal_nan=True)
    bits = wide.view(np.uint32).astype(np.int64)
    near = (bits[:, None] + np.array([0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF]) & 0xFFFFFFFF).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = near.astype(np.uint32).view(np.float32).astype(np.float16)
    want = np.where(np.isnan(narrow), F16.format.nan, narrow.view(np.uint16).astype(np.int64))
    # f32 has no subnormals; those are zeros of f16 all the same.
    assert np.array_equal(convert(near, F32, F16), want)


def test_overflow_and_saturation() -> None:
    assert convert(F32.encode([2.5, 3.5, -0.5, 127.5, inf, np.nan]), F32, Integer(8)).tolist() == [
        *(2, 4, 0, OVERFLOW, OVERFLOW, OVERFLOW)
    ]
    assert convert(F32.encode([inf, -inf, np.nan, 3e38]), F32, Fixed(8, 4)).tolist() == [0x7F, 0x80, 0, 0x7F]
