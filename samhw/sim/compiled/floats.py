"""The commonest operations on f32, by the processor's own arithmetic.

They stand in for `samhw.graph.numerics`' scalar forms, which hold integers only, and give the same words: a
subnormal counts as a zero, and so does a result that IEEE rounding makes one; there is one NaN; a product
with a zero is one.
"""

from samhw.graph.numerics import Float
from samhw.graph.numerics.float_format import F32
from samhw.sim.machine_code import real_of, word_of

__all__ = ["STAND_INS", "f32_add", "f32_mul", "f32_sub"]

SIGN, INFINITY, NAN, HIDDEN = F32.sign, F32.infinity, F32.nan, F32.hidden
NORMAL = 2.0 ** (1 - F32.bias)
"""The smallest normal number."""
ALMOST = NORMAL * (1 - 2.0 ** (-1 - F32.mantissa))
"""From here on IEEE rounds up to it."""


def _flushed(word: int) -> int:
    """A word, or a zero of its sign if it is subnormal."""
    return word if word & INFINITY != 0 else word & SIGN


def _one_nan(word: int) -> int:
    return NAN if word & SIGN - 1 > INFINITY else word


def f32_add(a: int, b: int) -> int:
    """a + b."""
    # Rounded twice, to double and to single precision, a sum is as if rounded once. A subnormal sum of normal
    # numbers is exact, so that it makes no difference when it is flushed.
    return _one_nan(_flushed(word_of(real_of(_flushed(a)) + real_of(_flushed(b)))))


def f32_sub(a: int, b: int) -> int:
    """a - b."""
    return f32_add(a, b ^ SIGN)


def f32_mul(a: int, b: int) -> int:
    """a * b; a zero if either is, whatever the other one is."""
    # Exact in double precision. No instruction sees a subnormal, which some libraries have flushed otherwise.
    product = real_of(_flushed(a)) * real_of(_flushed(b))
    size = abs(product)
    if size < NORMAL:
        return (a ^ b) & SIGN | (HIDDEN if size >= ALMOST else 0)
    return word_of(product) if product == product else _no_number(a, b)


def _no_number(a: int, b: int) -> int:
    """a * b where IEEE says NaN, which it is but for a zero with infinity or NaN."""
    if a & INFINITY != 0 and b & INFINITY != 0:
        return NAN
    return 0 if a & SIGN - 1 > INFINITY or b & SIGN - 1 > INFINITY else (a ^ b) & SIGN


_f32 = Float("f32")
STAND_INS = {_f32.scalar("add"): f32_add, _f32.scalar("sub"): f32_sub, _f32.scalar("mul"): f32_mul}
"""By the scalar form that each stands in for."""
