"""Integers and signed fixed point: one arithmetic, with or without saturation. The nonlinear
functions of fixed point are those of f32, between two conversions."""

from collections.abc import Callable, Mapping
from functools import partial
from math import ldexp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError
from samhw.graph.numerics import fixed_arithmetic as arithmetic
from samhw.graph.numerics.circular import cos, sin
from samhw.graph.numerics.exponential import exp, sigmoid, silu, tanh
from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.graph.numerics.float_arithmetic import (
    fixed_to_float,
    float_to_fixed,
    narrowed,
    nearest_integer,
    square_root,
)
from samhw.graph.numerics.float_format import F8E4M3, F8E5M2, F32, FloatFormat
from samhw.graph.numerics.gaussian import gelu
from samhw.graph.numerics.logarithm import log
from samhw.graph.numerics.operations import OPERATIONS, definitions_of
from samhw.graph.numerics.reciprocal import reciprocal, reciprocal_root
from samhw.graph.numerics.straight_line import Bits
from samhw.graph.numerics.valuetype import Definition, ValueType, Words

__all__ = ["INTEGERS", "Fixed", "Integer"]

WIDEST = F32.mantissa + 1
"""The widest fixed point that f32 holds exactly."""


def _through_f32(function: Callable[[FloatFormat, Bits], Bits], f: FixedFormat, a: Bits) -> Bits:
    return float_to_fixed(F32, f, function(F32, fixed_to_float(f, F32, a)))


FIXED_FUNCTIONS: dict[str, Callable[[FixedFormat, Bits], Bits]] = {
    "sqrt": partial(_through_f32, square_root),
    "reciprocal": partial(_through_f32, reciprocal),
    "rsqrt": partial(_through_f32, reciprocal_root),
    "exp": partial(_through_f32, exp),
    "log": partial(_through_f32, log),
    "sigmoid": partial(_through_f32, sigmoid),
    "tanh": partial(_through_f32, tanh),
    "silu": partial(_through_f32, silu),
    "gelu": partial(_through_f32, gelu),
    "sin": partial(_through_f32, sin),
    "cos": partial(_through_f32, cos),
    "rint": partial(_through_f32, nearest_integer),
    "f8e4m3": partial(_through_f32, partial(narrowed, F8E4M3)),
    "f8e5m2": partial(_through_f32, partial(narrowed, F8E5M2)),
}
"""By name, for words of at most `WIDEST` bits. Infinity saturates; where the function has no value, zero."""


class _TwosComplement(ValueType):
    """Words are two's complement; the value is the signed word times 2**-fraction."""

    _definitions: Mapping[str, Callable[..., Bits]] = definitions_of(arithmetic)

    def __init__(self, name: str, width: int, fraction: int, is_signed: bool = True):
        self.name = name
        self.operations = {op: OPERATIONS[op] for op in self._definitions}
        self.width = width
        self.fraction = fraction
        self.is_signed = is_signed
        self.format = FixedFormat(width, fraction, self.saturates, is_signed)
        self.lowest = self.format.lowest
        self.highest = self.format.highest
        self.zero_mask = (1 << width) - 1

    @property
    def least(self) -> int | float:
        return self._number(self.lowest)

    @property
    def greatest(self) -> int | float:
        return self._number(self.highest)

    def _number(self, signed: int) -> int | float:
        return signed if self.fraction == 0 else ldexp(signed, -self.fraction)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _TwosComplement) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def definition(self, op: str) -> Definition:
        self._check_op(op)
        return partial(self._definitions[op], self.format)


class Integer(_TwosComplement):
    """`i8`, `i16`, `i32`, `u8`. A result out of range is an overflow error, never a wrapped value."""

    family = "integer"
    saturates = False

    def __init__(self, width: int, is_signed: bool = True):
        super().__init__(f"{'i' if is_signed else 'u'}{width}", width, 0, is_signed)

    def encode(self, values: ArrayLike) -> Words:
        array = np.asarray(values)
        if array.dtype.kind not in "iub":
            if not np.all(np.isfinite(array)):
                raise InputError(
                    f"The data holds NaN or infinity, which {self.name} has not; clean it or "
                    "choose f32 (--value f32)."
                )
            if not np.all(array == np.rint(array)):
                raise InputError(
                    f"The data holds {array[array != np.rint(array)].flat[0]}, which is no integer; round "
                    f"it or choose another type than {self.name} (--value)."
                )
        if array.size and not (self.lowest <= array.min().item() and array.max().item() <= self.highest):
            raise InputError(
                f"The data holds values beyond {self.name} ({self.lowest} to {self.highest}); scale it or "
                "choose a wider type (--value)."
            )
        words: Words = array.astype(np.int64) & (1 << self.width) - 1
        return words

    def decode(self, words: ArrayLike) -> NDArray[np.int64]:
        signed: NDArray[np.int64] = self.format.signed(np.asarray(words, dtype=np.int64))
        return signed


INTEGERS = {kind.name: kind for kind in (Integer(8), Integer(16), Integer(32), Integer(8, is_signed=False))}
"""By their names."""


class Fixed(_TwosComplement):
    """`fixed<W,F>`: signed, W bits of which F are fraction; saturates; rounds to nearest, ties to even."""

    family = "fixed"
    saturates = True

    def __init__(self, width: int, fraction: int):
        if not (8 <= width <= 32 and 0 <= fraction < width):
            raise InputError(
                f"fixed<{width},{fraction}> is not a value type; give 8 to 32 bits and a fraction below that."
            )
        self._definitions = {**self._definitions, "div": arithmetic.divide}
        if width <= WIDEST:
            self._definitions |= FIXED_FUNCTIONS
        super().__init__(f"fixed<{width},{fraction}>", width, fraction)

    def encode(self, values: ArrayLike) -> Words:
        array = np.asarray(values, dtype=np.float64)
        if not np.all(np.isfinite(array)):
            raise InputError(
                f"The data holds NaN or infinity, which {self.name} has not; clean it or "
                "choose f32 (--value f32)."
            )
        raw = np.clip(np.rint(np.ldexp(array, self.fraction)), self.lowest, self.highest)
        words: Words = raw.astype(np.int64) & (1 << self.width) - 1
        return words

    def decode(self, words: ArrayLike) -> NDArray[np.float64]:
        signed: NDArray[np.int64] = self.format.signed(np.asarray(words, dtype=np.int64))
        return np.ldexp(signed.astype(np.float64), -self.fraction)
