"""Words to test floating point with, and what NumPy makes of them."""

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from samhw.graph.numerics.float import Float
from samhw.graph.numerics.valuetype import Words

F32, BF16, F16, F8E4M3, F8E5M2 = map(Float, ("f32", "bf16", "f16", "f8e4m3", "f8e5m2"))
TYPES = [F32, BF16]
NARROW = [F8E4M3, F8E5M2]
"""Those of eight bits, of which tests see every word and every pair."""
CHUNK = 1 << 16

_STORAGE: dict[str, tuple[Any, Any]] = {
    "f32": (np.uint32, np.float32),
    "bf16": (np.uint16, ml_dtypes.bfloat16),
    "f16": (np.uint16, np.float16),
    "f8e4m3": (np.uint8, ml_dtypes.float8_e4m3fn),
    "f8e5m2": (np.uint8, ml_dtypes.float8_e5m2),
}


def specials(kind: Float) -> Words:
    """Zeros, subnormals, the ends of the range, ties, infinities and NaNs, of both signs; every word of eight
    bits."""
    f = kind.format
    if kind.width == 8:
        return np.arange(1 << 8)
    one, last = f.one, f.hidden - 1
    magnitudes = [
        *(0, 1, f.hidden >> 1, last),
        *(f.hidden, f.hidden + 1, f.hidden + last, 2 * f.hidden, 2 * f.hidden + 1),
        *(one - 1, one, one + 1, one + 2, one + last, one + f.hidden, one + (f.hidden >> 1), one - f.hidden),
        # The last place of one, half of it, and what lies next to them: ties.
        *(one - (f.mantissa + n << f.mantissa) + d for n in (0, 1, 2) for d in (-1, 0, 1)),
        # Squares of these are next to the ends of the range.
        *((f.bias - f.bias // 2 << f.mantissa) + d for d in (-1, 0, 1)),
        *((f.bias + f.bias // 2 + 1 << f.mantissa) + d for d in (-1, 0, 1)),
        *(f.infinity - f.hidden - 1, f.infinity - f.hidden, f.infinity - 2, f.infinity - 1, f.infinity),
        *(f.infinity + 1, f.nan, f.nan + 1, f.sign - 1),
    ]
    return np.array([m | s for m in magnitudes for s in (0, f.sign)])


def angles(kind: Float) -> Words:
    """Where sin and cos go on to another polynomial, eighths of turns above all, and next to that; numbers of
    every magnitude next to a multiple of a quarter turn, where most of a product with 2/pi cancels; and the
    ends of the range where they are linear. Of both signs.
    """
    f = kind.format
    edges = kind.encode(np.pi / 512 * np.arange(1, 8 * 512))
    nearest = np.array([16367173 * 2.0**72, 10741887 * 2.0**11, 189 * 2.0**51, 133 * 2.0**60])
    quarters = kind.encode(np.pi / 2 * np.exp2(np.arange(1, 120)))
    linear = f.bias - (f.mantissa + 3) // 2 + np.arange(-1, 2) << f.mantissa
    magnitudes = np.concatenate([edges, kind.encode(nearest), quarters, linear])
    around = np.concatenate([magnitudes + d for d in (-2, -1, 0, 1, 2)])
    return np.concatenate([around, around | f.sign])


def pairs(values: Words) -> tuple[Words, Words]:
    """Every pair."""
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.ravel(), b.ravel()


def random_pairs(kind: Float, count: int) -> Iterator[tuple[Words, Words]]:
    """At least `count` pairs in chunks; all pairs of words of eight bits.

    In turn: any words; near ones, whose difference cancels; products, then quotients around the smallest
    normal number.
    """
    f = kind.format
    if kind.width == 8:
        yield pairs(specials(kind))
        return
    rng = np.random.default_rng(kind.width)
    mask = (1 << kind.width) - 1
    for n in range(-(-count // CHUNK)):
        a = rng.integers(0, 1 << kind.width, CHUNK)
        match n % 4:
            case 0:
                b = rng.integers(0, 1 << kind.width, CHUNK)
            case 1:
                b = a + rng.integers(-4 * f.hidden, 4 * f.hidden, CHUNK) ^ rng.integers(0, 2, CHUNK) * f.sign
            case 2:  # products
                significand = a & f.hidden - 1 | f.hidden
                # The significand that makes the product's as great as it can be below the next power of two.
                partner = ((2 << 2 * f.mantissa) - 1) // significand & f.hidden - 1
                exponent = f.bias - (a >> f.mantissa & 2 * f.bias + 1) + rng.integers(-1, 2, CHUNK)
                b = (np.clip(exponent, 0, 2 * f.bias + 1) << f.mantissa) + partner
            case _:  # quotients
                exponent = (a >> f.mantissa & 2 * f.bias + 1) + f.bias + rng.integers(-3, 2, CHUNK)
                b = exponent << f.mantissa | rng.integers(0, f.hidden, CHUNK)
        yield a, b & mask


def flush(kind: Float, words: Words) -> Words:
    """The flush rule, in a type without subnormals, and the one NaN, on what NumPy gives."""
    bits, dtype = _STORAGE[kind.name]
    f = kind.format
    if not f.subnormals:
        words = np.where(words & f.sign - 1 < f.hidden, words & f.sign, words)
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(words.astype(bits).view(dtype)), f.nan, words)


def product(a: Any, b: Any) -> Any:
    """NumPy's, but that a zero factor makes a zero of infinity and NaN too."""
    return np.where((a == 0) | (b == 0), _zero(a, b), np.multiply(a, b))


def quotient(a: Any, b: Any) -> Any:
    """NumPy's, but that zero by anything is a zero, by zero and NaN too."""
    return np.where(a == 0, _zero(a, b), np.divide(a, b))


def _zero(a: Any, b: Any) -> Any:
    zero = np.zeros_like(a)
    negative = (np.signbit(a) != np.signbit(b)) & ~np.isnan(a) & ~np.isnan(b)
    return np.where(negative, -zero, zero)


def from_numpy(kind: Float, operation: Callable[..., Any], *words: Words) -> Words:
    """The operation in NumPy's float32 or a type of ml_dtypes, operands and result flushed."""
    bits, dtype = _STORAGE[kind.name]
    operands = [flush(kind, w).astype(bits).view(dtype) for w in words]
    with np.errstate(all="ignore"):
        result = np.asarray(operation(*operands)).astype(dtype)
    return flush(kind, result.view(bits).astype(np.int64))
