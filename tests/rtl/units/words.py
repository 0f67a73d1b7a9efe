"""Operand words of a type: what is special in it, and random ones where units go wrong."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from samhw.graph.numerics import Fixed, Float, Integer, ValueType
from samhw.graph.numerics.valuetype import Words
from tests.support.words import pairs, random_pairs, specials

__all__ = ["COUNT", "operands"]

COUNT = 1 << 18
"""Vectors, at least."""


@cache
def operands(kind: ValueType, arity: int) -> list[Words]:
    """A column of words for each operand: every pair of special words, and random ones. Not to be changed."""
    rng = np.random.default_rng(arity)
    if isinstance(kind, Float):
        if arity == 1 and kind.width <= 16:
            return [np.arange(1 << kind.width)]
        chunks = [pairs(specials(kind)), *_float_chunks(kind, rng)]
    else:
        chunks = [pairs(_corners(kind)), *_integer_chunks(kind, rng)]
    a, b = (np.concatenate(columns) for columns in zip(*chunks, strict=True))
    if arity < 3:
        return [a, b][:arity]
    # The first operand is a condition: often zero, and sometimes next to it.
    condition = np.where(rng.random(a.size) < 0.5, rng.choice(_zeros(kind), a.size), rng.permutation(a))
    return [condition, a, b]


def _zeros(kind: ValueType) -> Words:
    sign = 1 << kind.width - 1
    if isinstance(kind, Float):
        smallest = kind.format.least
        return np.array([0, sign, 1, smallest - 1, smallest, sign | smallest - 1, sign | smallest])
    return np.array([0, 1, sign])


def _corners(kind: ValueType) -> Words:
    half = 1 << kind.width - 1
    near = [0, 1, 2, 3, half // 2 - 1, half // 2, half // 2 + 1, half - 3, half - 2, half - 1]
    return np.array([*near, *(2 * half - 1 - word for word in near)])


def _integer_chunks(kind: ValueType, rng: np.random.Generator) -> Iterator[tuple[Words, Words]]:
    """Pairs of every magnitude, and pairs whose product is a tie."""
    assert isinstance(kind, Integer | Fixed)
    half, mask = 1 << kind.width - 1, (1 << kind.width) - 1
    a, b = rng.integers(-half, half, (2, COUNT)) >> rng.integers(0, kind.width, (2, COUNT))
    yield a & mask, b & mask
    exponent = rng.integers(0, kind.fraction + 1, COUNT // 4)
    odd = rng.integers(-half, half, exponent.size) >> rng.integers(0, kind.width, exponent.size) | 1
    yield odd << np.maximum(kind.fraction - 1 - exponent, 0) & mask, 1 << exponent & mask


def _float_chunks(kind: Float, rng: np.random.Generator) -> Iterator[tuple[Words, Words]]:
    """Any words, and pairs whose sum, product or conversion is near a tie, cancels or is very small."""
    f = kind.format
    yield from random_pairs(kind, COUNT // 2)
    if kind.width == 8:
        return
    count = COUNT // 8
    # Mantissas with few ones: halves of the last place, in sums and in conversions.
    middle = max(f.bias - 33, 1), min(f.bias + 33, 2 * f.bias)
    for lowest, highest in (middle, (1, f.mantissa + 4), (1, 2 * f.bias)):
        exponent = rng.integers(lowest, highest, count)
        partner = np.clip(exponent - rng.integers(-1, f.mantissa + 5, count), 0, 2 * f.bias)
        for mantissas in (_few_ones(kind, rng, (2, count)), rng.integers(0, f.hidden, (2, count))):
            signs = rng.integers(0, 2, (2, count)) * f.sign
            a, b = np.stack([exponent, partner]) << f.mantissa | mantissas | signs
            yield a, b


def _few_ones(kind: Float, rng: np.random.Generator, shape: tuple[int, int]) -> Words:
    """Mantissas that are ones, then zeros, then perhaps a one in the last place."""
    f = kind.format
    ones = f.hidden - 1 << rng.integers(0, f.mantissa + 1, shape) & f.hidden - 1
    return np.where(rng.random(shape) < 0.5, ones, ones ^ f.hidden - 1) ^ rng.integers(0, 2, shape)
