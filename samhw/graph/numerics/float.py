"""Floating point as value types: fp8 (f8e4m3 and f8e5m2), f16, bf16 and f32.

Addition and multiplication of single words, the models' most frequent operations, are written with branches,
about twice as fast as the straight line of the definitions. Like that, they hold integers only.
"""

from collections.abc import Callable
from functools import cache, partial
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.graph.numerics import float_arithmetic as arithmetic
from samhw.graph.numerics.circular import cos, sin
from samhw.graph.numerics.exponential import exp, sigmoid, silu, tanh
from samhw.graph.numerics.float_arithmetic import float_to_float, narrowed, nearest_integer
from samhw.graph.numerics.float_format import BF16, F8E4M3, F8E5M2, F16, F32, FloatFormat
from samhw.graph.numerics.gaussian import gelu
from samhw.graph.numerics.logarithm import log
from samhw.graph.numerics.operations import NARROWINGS, OPERATIONS, definitions_of
from samhw.graph.numerics.reciprocal import reciprocal, reciprocal_root
from samhw.graph.numerics.straight_line import Bits, lookup
from samhw.graph.numerics.valuetype import Definition, ScalarOp, ValueType, Words

__all__ = ["FLOATS", "Float"]


def adder(f: FloatFormat) -> ScalarOp:
    """a + b."""
    return _adder(f, 0)


def subtracter(f: FloatFormat) -> ScalarOp:
    """a - b."""
    return _adder(f, f.sign)


def _adder(f: FloatFormat, flip: int) -> ScalarOp:
    mantissa, hidden, infinity, nan, sign = f.mantissa, f.hidden, f.infinity, f.nan, f.sign
    magnitude, fraction, top = f.sign - 1, f.hidden - 1, f.width - 1
    far = mantissa + 3

    def add(a: int, b: int) -> int:
        b ^= flip
        x = a & magnitude
        y = b & magnitude
        if x < y:
            a, b, x, y = b, a, y, x
        if x >= infinity:
            if x > infinity or (y == infinity and a != b):
                return nan
            return a
        if y < hidden:
            if x >= hidden:
                return a
            return a & b & sign
        exponent = x >> mantissa
        shift = exponent - (y >> mantissa)
        # From `far` on the lesser is below a quarter of the greater one's last bit, and only its sign counts.
        if shift > far:
            shift = far
        # In units of 2**-shift of the greater one's last bit the sum is exact.
        total = (x & fraction | hidden) << shift
        lesser = y & fraction | hidden
        # `extra`: bits of the total below its last place. A sum may have one more; a difference may lose one,
        # and any number where the exponents are equal or neighbours, so that the total is exact.
        extra = shift
        if a >> top == b >> top:
            total += lesser
            if total >> extra >= 2 * hidden:
                extra += 1
        else:
            total -= lesser
            if total == 0:
                return 0
            if extra > 0 and total >> extra < hidden:
                extra -= 1
            while total < hidden:
                total <<= 1
                exponent -= 1
        exponent += extra - shift
        if extra > 0:
            total = total + (1 << extra - 1) - 1 + (total >> extra & 1) >> extra
        if exponent < 1:
            return a & sign
        word = (exponent << mantissa) + total - hidden
        return a & sign | (word if word < infinity else infinity)

    return add


def multiplier(f: FloatFormat) -> ScalarOp:
    """a * b; a zero if either is, whatever the other one is."""
    mantissa, hidden, infinity, nan, sign = f.mantissa, f.hidden, f.infinity, f.nan, f.sign
    magnitude, fraction = f.sign - 1, f.hidden - 1
    bias, double, ones = f.bias, 2 << 2 * f.mantissa, 2 * f.hidden - 1
    half = (1 << mantissa) - 1

    def mul(a: int, b: int) -> int:
        x = a & magnitude
        y = b & magnitude
        negative = (a ^ b) & sign
        if x < hidden or y < hidden:
            return negative if x <= infinity and y <= infinity else 0
        if x >= infinity or y >= infinity:
            if x > infinity or y > infinity:
                return nan
            return negative | infinity
        product = (x & fraction | hidden) * (y & fraction | hidden)
        exponent = (x >> mantissa) + (y >> mantissa) - bias
        if product < double:
            product <<= 1
        else:
            exponent += 1
        kept = product >> mantissa + 1
        if exponent < 1:
            return negative | hidden if exponent == 0 and kept == ones else negative
        word = (exponent << mantissa) + (product + half + (kept & 1) >> mantissa + 1) - hidden
        return negative | (word if word < infinity else infinity)

    return mul


FLOATS = {"f8e4m3": F8E4M3, "f8e5m2": F8E5M2, "f16": F16, "bf16": BF16, "f32": F32}
"""The formats, by the names of the types."""

_DEFINITIONS: dict[str, Callable[..., Bits]] = {
    **definitions_of(arithmetic),
    "div": arithmetic.divide,
    "sqrt": arithmetic.square_root,
    "reciprocal": reciprocal,
    "rsqrt": reciprocal_root,
    "exp": exp,
    "log": log,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "silu": silu,
    "gelu": gelu,
    "sin": sin,
    "cos": cos,
    "rint": nearest_integer,
    **{name: partial(narrowed, FLOATS[name]) for name in NARROWINGS},
}

_FAST: dict[str, Callable[[FloatFormat], ScalarOp]] = {"add": adder, "sub": subtracter, "mul": multiplier}


_BY_F32 = (
    "reciprocal",
    "rsqrt",
    "exp",
    "log",
    "sigmoid",
    "tanh",
    "silu",
    "gelu",
    "sin",
    "cos",
)
"""What types with subnormals compute in f32."""

_TABULATED = (*_BY_F32, "sqrt", "rint", *NARROWINGS)
"""What types of eight bits look up, which f32 gives likewise."""


class Float(ValueType):
    """`f8e4m3`, `f8e5m2`, `f16`, `bf16`, `f32`. Rounds to nearest, ties to even; overflows to infinity, or to
    NaN in f8e4m3. bf16 and f32 have no subnormals. A function of a type that has some is what f32 gives,
    rounded; in eight bits, a table.

    Args:
        name: one of `FLOATS`.
    """

    saturates: ClassVar[bool] = True
    operations = OPERATIONS
    sums_in_blocks: ClassVar[bool] = True

    def __init__(self, name: str):
        self.name = name
        self.format = FLOATS[name]
        self.width = self.format.width
        self.by_f32 = _BY_F32 if self.format.subnormals else ()
        """The operations that f32 computes, between two conversions."""
        self.tabulated = _TABULATED if self.width == 8 else ()
        """The operations that are tables, by `table`."""
        self.family = "f8" if self.tabulated else name
        self.unit_roundoff = 0.5 / self.format.hidden
        self.zero_mask = self.format.sign - 1 if self.format.subnormals else self.format.infinity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Float) and self.format == other.format

    def __hash__(self) -> int:
        return hash(self.name)

    def encode(self, values: ArrayLike) -> Words:
        """Words of the nearest values, by way of float64. What is too large becomes infinity, or else NaN."""
        array = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(array)
        fraction, exponent = np.frexp(np.where(finite, np.abs(array), 0))
        significand = np.ldexp(fraction, 53).astype(np.int64)
        sign = np.signbit(array).astype(np.int64)
        words = self.format.round_integer(sign, significand, exponent.astype(np.int64) - 53, width=54)
        words = np.where(np.isinf(array), self.format.infinite(sign), words)
        return np.where(np.isnan(array), self.format.nan, words)

    def constant(self, number: int | float) -> int:
        """The word of a number in a program's text: without infinities at most the greatest."""
        if not self.format.infinities:
            number = min(max(number, self.least), self.greatest)
        return super().constant(number)

    @property
    def least(self) -> float:
        return -self.greatest

    @property
    def greatest(self) -> float:
        return inf if self.format.infinities else float(self.decode(self.format.lowest_nan - 1))

    def decode(self, words: ArrayLike) -> NDArray[np.float64]:
        f = self.format
        x = f.take_apart(np.asarray(words, dtype=np.int64))
        magnitude = np.ldexp(x.significand.astype(np.float64), x.exponent - f.bias - f.mantissa)
        magnitude = np.where(x.zero, 0.0, np.where(x.infinite, np.inf, magnitude))
        return np.where(x.nan, np.nan, np.where(x.sign == 1, -magnitude, magnitude))

    def definition(self, op: str) -> Definition:
        self._check_op(op)
        if op in self.tabulated:
            return partial(lookup, self.table(op))
        if op in self.by_f32:
            return partial(_through_f32, _DEFINITIONS[op], self.format)
        return partial(_DEFINITIONS[op], self.format)

    def scalar(self, op: str) -> ScalarOp:
        is_fast = op in _FAST and not self.format.subnormals
        return _fast(self.format, op) if is_fast else super().scalar(op)

    def table(self, op: str) -> Words:
        """The results of an operation in `tabulated`, by operand word: those of f32, rounded."""
        return _table(self.format, op)


@cache
def _table(f: FloatFormat, op: str) -> Words:
    words: Words = _through_f32(_DEFINITIONS[op], f, np.arange(1 << f.width))
    return words


def _through_f32(function: Callable[..., Bits], f: FloatFormat, a: Bits) -> Bits:
    return float_to_float(F32, f, function(F32, float_to_float(f, F32, a)))


@cache
def _fast(f: FloatFormat, op: str) -> ScalarOp:
    return _FAST[op](f)
