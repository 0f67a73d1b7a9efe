"""Division, roots and the nonlinear functions, as pipelines."""

from collections.abc import Callable, Sequence
from functools import partial

from amaranth.hdl import Value

from samhw.graph.numerics import NARROWINGS, Fixed, Float, ValueType
from samhw.rtl.units.convert import convert_unit
from samhw.rtl.units.functions.circular import cos, sin
from samhw.rtl.units.functions.division import (
    divide_fixed,
    divide_floats,
    nearest_integer,
    reciprocal,
    reciprocal_root,
    square_root,
)
from samhw.rtl.units.functions.exponential import exp, log, sigmoid, silu, tanh
from samhw.rtl.units.functions.gaussian import gelu
from samhw.rtl.units.functions.piecewise import look_up
from samhw.rtl.units.functions.pipeline import PipelinedUnit
from samhw.rtl.units.unit import Chain, Unit

__all__ = ["function_unit"]

_UNARY: dict[str, Callable[..., Value]] = {
    "sqrt": square_root,
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
}

_F32 = Float("f32")
"""What the functions of fixed point and of f16 are computed in."""


def _narrowing(op: str, value_type: Float) -> Unit:
    narrow = Float(op)
    return Chain(convert_unit(value_type, narrow), convert_unit(narrow, value_type))


_QUOTIENTS = [
    partial(divide_floats, at_a_time=digits, apart=apart) for digits in (1, 2) for apart in (True, False)
]
_ROOTS = [partial(square_root, at_a_time=digits) for digits in (1, 2)]


def _digit_by_digit(
    ways: Sequence[Callable[..., Value]], value_type: Float, operands: str, latency: int
) -> Unit:
    """The first of several ways that the latency allows, from the most stages to the fewest; or the last."""
    for way in ways:
        unit = PipelinedUnit(way, value_type.format, operands)
        if unit.registers < latency:
            break
    return unit


def function_unit(op: str, value_type: ValueType, *, latency: int = 0) -> Unit | None:
    """The pipeline of an operation; None if this package has none for the type.

    Args:
        latency: that it may take; quotients and roots of floating-point numbers have more stages for it.
    """
    if op not in value_type.operations:
        return None
    match value_type:
        case Float() if op == "div":
            return _digit_by_digit(_QUOTIENTS, value_type, "a b", latency)
        case Float() if op == "sqrt" and op not in value_type.tabulated:
            return _digit_by_digit(_ROOTS, value_type, "a", latency)
        case Fixed() if op == "div":
            return PipelinedUnit(divide_fixed, value_type.format, "a b")
        case Float() if op in value_type.tabulated:
            return PipelinedUnit(partial(look_up, value_type.table(op)), value_type.format)
        case Float() if op in NARROWINGS:
            return _narrowing(op, value_type)
        case Fixed() if op in NARROWINGS:
            to_f32, from_f32 = convert_unit(value_type, _F32), convert_unit(_F32, value_type)
            return Chain(to_f32, _narrowing(op, _F32), from_f32)
        case Float() if op in _UNARY and op not in value_type.by_f32:
            return PipelinedUnit(_UNARY[op], value_type.format)
        case Fixed() | Float() if op in _UNARY:
            function = PipelinedUnit(_UNARY[op], _F32.format)
            return Chain(convert_unit(value_type, _F32), function, convert_unit(_F32, value_type))
    return None
