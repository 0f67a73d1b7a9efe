"""Floating point as value types: fp8 (f8e4m3 and f8e5m2), bf16 and f32."""

from collections.abc import Callable
from functools import cache, partial
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.graph.numerics import float_arithmetic as arithmetic
from samhw.graph.numerics.circular import cos, sin
from samhw.graph.numerics.convert_words import float_to_float, narrowed
from samhw.graph.numerics.exponential import exp, sigmoid, silu, tanh
from samhw.graph.numerics.float_arithmetic import nearest_integer
from samhw.graph.numerics.float_format import BF16, F8E4M3, F8E5M2, F32, FloatFormat
from samhw.graph.numerics.float_scalar import adder, multiplier, subtracter
from samhw.graph.numerics.gaussian import gelu
from samhw.graph.numerics.lanes import Bits, lookup
from samhw.graph.numerics.logarithm import log
from samhw.graph.numerics.operations import NARROWINGS, OPERATIONS, definitions_of
from samhw.graph.numerics.reciprocal import reciprocal, reciprocal_root
from samhw.graph.numerics.valuetype import Definition, ScalarOp, ValueType, Words

__all__ = ["FLOATS", "Float"]

FLOATS = {"f8e4m3": F8E4M3, "f8e5m2": F8E5M2, "bf16": BF16, "f32": F32}
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


_TABULATED = (
    "sqrt",
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
    "rint",
    *NARROWINGS,
)
"""What types of eight bits look up."""


class Float(ValueType):
    """`f8e4m3`, `f8e5m2`, `bf16`, `f32`. Rounds to nearest, ties to even; overflows to infinity, or to NaN in
    f8e4m3. Of these only those of eight bits have subnormals; a function of such a type is a table of what
    f32 gives for each word.

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
        return (
            partial(lookup, self.table(op))
            if op in self.tabulated
            else partial(_DEFINITIONS[op], self.format)
        )

    def scalar(self, op: str) -> ScalarOp:
        is_fast = op in _FAST and not self.format.subnormals
        return _fast(self.format, op) if is_fast else super().scalar(op)

    def table(self, op: str) -> Words:
        """The results of an operation in `tabulated`, by operand word: those of f32, rounded."""
        return _table(self.format, op)


@cache
def _table(f: FloatFormat, op: str) -> Words:
    exact = float_to_float(f, F32, np.arange(1 << f.width))
    words: Words = float_to_float(F32, f, _DEFINITIONS[op](F32, exact))
    return words


@cache
def _fast(f: FloatFormat, op: str) -> ScalarOp:
    return _FAST[op](f)
