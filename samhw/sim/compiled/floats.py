"""The commonest operations on f32, by the processor's own arithmetic.

They stand in for `samhw.numerics`' scalar forms, which hold integers only, and give the same words: a
subnormal counts as a zero, and so does a result that IEEE rounding makes one; there is one NaN; a product
with a zero is one.
"""

from typing import Any

import numba
import numpy as np

from samhw.numerics import value_type
from samhw.numerics.float_format import F32
from samhw.sim.compiled.native import f32_of, word_of

__all__ = ["STAND_INS", "f32_add", "f32_mul", "f32_sub"]

njit: Any = numba.njit
inlined = njit(error_model="numpy", forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)

SIGN, INFINITY, NAN, HIDDEN = F32.sign, F32.infinity, F32.nan, F32.hidden
NORMAL = 2.0 ** (1 - F32.bias)
"""The smallest normal number."""
ALMOST = NORMAL * (1 - 2.0 ** (-1 - F32.mantissa))
"""From here on IEEE rounds up to it."""


@inlined
def _flushed(word: int) -> int:
    """A word, or a zero of its sign if it is subnormal."""
    return word if word & INFINITY != 0 else word & SIGN


@inlined
def _one_nan(word: int) -> int:
    return NAN if word & SIGN - 1 > INFINITY else word


@inlined
def f32_add(a: int, b: int) -> int:
    """a + b."""
    # A subnormal sum of normal numbers is exact, so that it makes no difference when it is flushed.
    return _one_nan(_flushed(word_of(f32_of(_flushed(a)) + f32_of(_flushed(b)))))


@inlined
def f32_sub(a: int, b: int) -> int:
    """a - b."""
    return f32_add(a, b ^ SIGN)


@inlined
def f32_mul(a: int, b: int) -> int:
    """a * b; a zero if either is, whatever the other one is."""
    # Exact in double precision. No instruction sees a subnormal, which some libraries have flushed otherwise.
    product = np.float64(f32_of(_flushed(a))) * np.float64(f32_of(_flushed(b)))
    size = abs(product)
    if size < NORMAL:
        return (a ^ b) & SIGN | (HIDDEN if size >= ALMOST else 0)
    return word_of(np.float32(product)) if product == product else _no_number(a, b)


@inlined
def _no_number(a: int, b: int) -> int:
    """a * b where IEEE says NaN, which it is but for a zero with infinity or NaN."""
    if a & INFINITY != 0 and b & INFINITY != 0:
        return NAN
    return 0 if a & SIGN - 1 > INFINITY or b & SIGN - 1 > INFINITY else (a ^ b) & SIGN


_f32 = value_type("f32")
STAND_INS = {_f32.scalar("add"): "f32_add", _f32.scalar("sub"): "f32_sub", _f32.scalar("mul"): "f32_mul"}
"""Names of functions of this module, by the scalar form that each stands in for."""
