"""Floating point as value types: bf16 and f32."""

from collections.abc import Callable
from functools import cache, partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.numerics import float_arithmetic as arithmetic
from samhw.numerics.circular import cos, sin
from samhw.numerics.exponential import exp
from samhw.numerics.float_format import BF16, F32, FloatFormat
from samhw.numerics.float_scalar import adder, multiplier, subtracter
from samhw.numerics.gaussian import gelu
from samhw.numerics.hyperbolic import tanh
from samhw.numerics.lanes import Bits
from samhw.numerics.logarithm import log
from samhw.numerics.logistic import sigmoid, silu
from samhw.numerics.operations import OPERATIONS, definitions_of
from samhw.numerics.reciprocal import reciprocal, reciprocal_root
from samhw.numerics.valuetype import Definition, ScalarOp, ValueType, Words

__all__ = ["Float"]

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
}

_FAST: dict[str, Callable[[FloatFormat], ScalarOp]] = {"add": adder, "sub": subtracter, "mul": multiplier}


class Float(ValueType):
    """`bf16`, `f32`. Rounds to nearest, ties to even; knows no subnormals; overflows to infinity."""

    saturates: ClassVar[bool] = True
    operations = OPERATIONS
    sums_in_blocks: ClassVar[bool] = True

    def __init__(self, width: int):
        self.name = self.family = "bf16" if width == 16 else "f32"
        self.format = BF16 if width == 16 else F32
        self.width = self.format.width
        self.unit_roundoff = 0.5 / self.format.hidden
        self.zero_mask = self.format.infinity

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Float) and self.format == other.format

    def __hash__(self) -> int:
        return hash(self.name)

    def encode(self, values: ArrayLike) -> Words:
        """Words of the nearest values, by way of float64. What is too large becomes infinity."""
        array = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(array)
        fraction, exponent = np.frexp(np.where(finite, np.abs(array), 0))
        significand = np.ldexp(fraction, 53).astype(np.int64)
        sign = np.signbit(array).astype(np.int64)
        words = self.format.round_integer(sign, significand, exponent.astype(np.int64) - 53, width=54)
        words = np.where(np.isinf(array), self.format.pack(sign, self.format.infinity), words)
        return np.where(np.isnan(array), self.format.nan, words)

    def decode(self, words: ArrayLike) -> NDArray[np.float64]:
        f = self.format
        x = f.take_apart(np.asarray(words, dtype=np.int64))
        magnitude = np.ldexp(x.significand.astype(np.float64), x.exponent - f.bias - f.mantissa)
        magnitude = np.where(x.zero, 0.0, np.where(x.infinite, np.inf, magnitude))
        return np.where(x.nan, np.nan, np.where(x.sign == 1, -magnitude, magnitude))

    def definition(self, op: str) -> Definition:
        self._check_op(op)
        return partial(_DEFINITIONS[op], self.format)

    def scalar(self, op: str) -> ScalarOp:
        return _fast(self.format, op) if op in _FAST else super().scalar(op)


@cache
def _fast(f: FloatFormat, op: str) -> ScalarOp:
    return _FAST[op](f)
