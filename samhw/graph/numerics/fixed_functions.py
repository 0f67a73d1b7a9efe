"""The nonlinear functions of fixed point: the f32 function, between two conversions."""

from collections.abc import Callable
from functools import partial

from samhw.graph.numerics.circular import cos, sin
from samhw.graph.numerics.convert_words import fixed_to_float, float_to_fixed, narrowed
from samhw.graph.numerics.exponential import exp
from samhw.graph.numerics.fixed_format import FixedFormat
from samhw.graph.numerics.float_arithmetic import square_root
from samhw.graph.numerics.float_format import F8E4M3, F8E5M2, F32, FloatFormat
from samhw.graph.numerics.gaussian import gelu
from samhw.graph.numerics.hyperbolic import tanh
from samhw.graph.numerics.lanes import Bits
from samhw.graph.numerics.logarithm import log
from samhw.graph.numerics.logistic import sigmoid, silu
from samhw.graph.numerics.reciprocal import reciprocal, reciprocal_root
from samhw.graph.numerics.rounding import nearest_integer

__all__ = ["FIXED_FUNCTIONS", "WIDEST"]

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
