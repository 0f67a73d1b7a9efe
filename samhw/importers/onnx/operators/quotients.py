"""Quotients, whole numbers and powers."""

import math
from collections.abc import Callable

import numpy as np

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.formulas import (
    powered,
)
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.elementwise import without
from samhw.importers.onnx.operators.whole import divided, modulo
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import (
    Held,
    NodeCall,
    Operand,
    is_float,
    is_whole,
    kind_of,
)
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import (
    eq,
    exp,
    log,
    lt,
    rint,
    rsqrt,
    select,
    sqrt,
)

__all__ = ["ceiled", "floored", "truncated"]

Maker = Callable[..., Expr]


def floored(importer: NodeImporter, x: Operand) -> Value:
    """The greatest whole number that is not above it."""
    held = importer.materialized(x)
    return importer.elementwise(lambda e: rint(e) - lt(e, rint(e)), held)


@operator("Floor")
def import_floor(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    return floored(importer, x)


def ceiled(importer: NodeImporter, x: Operand) -> Value:
    """The least whole number that is not below it."""
    return importer.elementwise(lambda e: rint(e) + lt(rint(e), e), importer.materialized(x))


@operator("Ceil")
def import_ceil(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    return ceiled(importer, x)


def truncated(importer: NodeImporter, x: Operand) -> Value:
    """Without its fraction."""
    held = importer.materialized(x)

    def make(e: Expr) -> Expr:
        size = abs_(e)
        down = rint(size) - lt(size, rint(size))
        return select(lt(e, 0), -down, down)

    return importer.elementwise(make, held)


@operator("Div")
def import_div(importer: NodeImporter, call: NodeCall, a: Operand, b: Operand) -> Value:
    if (left := without(importer, a, b, 1)) is not None:
        return left
    if not is_float(kind_of(a)) and not is_float(kind_of(b)):
        return divided(importer, a, b)
    return importer.elementwise(lambda x, y: x / y, a, b)


@operator("Mod")
def import_mod(importer: NodeImporter, call: NodeCall, a: Operand, b: Operand) -> Value:
    if is_float(kind_of(a)):
        raise UnsupportedError("takes remainders of fractions", "give it integers")
    return modulo(importer, a, b, down=not call.get("fmod", 0))


@operator("Pow")
def import_pow(importer: NodeImporter, call: NodeCall, x: Operand, power: Operand) -> Value:
    number = importer.number(power)
    if number is None:
        return _any_power(importer, x, power)
    shape = np.broadcast_shapes(importer.shape(x), importer.shape(power))
    held = importer.views.expand(importer.materialized(x), list(shape))
    if number == 0:
        return importer.build.literal(1.0, shape)
    if float(number).is_integer() and 1 <= abs(number) <= 16:
        return importer.elementwise(lambda e: powered(e, int(number)), held)
    if is_whole(kind_of(x)):
        raise UnsupportedError(f"has the power {number:g} of integers", "cast them to float first")
    roots: dict[float, Maker] = {0.5: sqrt, -0.5: rsqrt, 1.5: lambda e: e * sqrt(e)}
    return importer.elementwise(roots.get(number, lambda e: exp(log(e) * number)), held)


def _any_power(importer: NodeImporter, x: Operand, power: Operand) -> Value:
    """By exp and log of the magnitude; of a negative number only whole powers are numbers."""
    if is_whole(kind_of(x)):
        raise UnsupportedError(
            "has integers to a power that differs from place to place", "cast them to float"
        )
    base, p = importer.materialized(x), importer.materialized(importer.as_real(power))
    size = importer.materialized(importer.elementwise(lambda e, q: exp(log(abs_(e)) * q), base, p))
    if isinstance(x, Held) and x.fetch is None and bool((x.array >= 0).all()):
        return size
    nan = importer.value(Held(np.asarray(math.nan, np.float32), "nan"))
    parity = importer.materialized(importer.elementwise(lambda q: abs_(q - rint(q * 0.5) * 2), p))
    return importer.elementwise(
        lambda e, s, o, n: select(lt(e, 0), select(eq(o, 0), s, select(eq(o, 1), -s, n)), s),
        base,
        size,
        parity,
        nan,
    )
