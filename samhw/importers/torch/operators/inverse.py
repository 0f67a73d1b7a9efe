"""Inverse functions of angles, hyperbolic ones, and the error function, by what the hardware has."""

import math
from collections.abc import Sequence
from functools import partial

from samhw.importers.core import Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import eq, gelu, log, lt, reciprocal, select, sqrt
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__: list[str] = []

ARCSINE = (1.0, 0.1666665764, 0.07500571381, 0.04450870947, 0.0318571891, 0.01429525532, 0.03767713931)
"""asin(t) / t by powers of t^2, for t up to 1/2: the polynomial that is equal at Chebyshev's nodes; it is off
by 3e-10 of it."""

ARCTANGENT = (
    *(0.9999999972, -0.3333327629, 0.1999807528, -0.1426001609, 0.1093234151, -0.08349724997),
    *(0.05708955633, -0.03035186511, 0.0104876494, -0.00170117009),
)
"""atan(t) / t by powers of t^2, for t up to 1, likewise; it is off by 3e-9 of it."""


def _odd(importer: Importer, coefficients: Sequence[float], t: Value) -> Value:
    """t times a polynomial of its square, by Horner's rule."""
    t = importer.materialized(t)
    square = importer.materialized(importer.elementwise(lambda e: e * e, t))

    def horner(e: Expr, z: Expr) -> Expr:
        made: Expr = z * coefficients[-1]
        for factor in coefficients[-2:0:-1]:
            made = (made + factor) * z
        return e * (made + coefficients[0])

    return importer.materialized(importer.elementwise(horner, t, square))


def _with_sign(importer: Importer, x: Value, size: Value) -> Value:
    return importer.elementwise(lambda e, s: select(lt(e, 0), -s, s), x, size)


def _arcsine(importer: Importer, x: Operand) -> Value:
    """Beyond 1/2 it is pi/2 less twice that of sqrt((1 - x) / 2)."""
    held = importer.materialized(x)
    size = importer.materialized(importer.elementwise(abs_, held))
    t = importer.elementwise(lambda a: select(lt(0.5, a), sqrt((1 - a) * 0.5), a), size)
    part = _odd(importer, ARCSINE, t)
    whole = importer.elementwise(lambda a, p: select(lt(0.5, a), math.pi / 2 - p * 2, p), size, part)
    return _with_sign(importer, held, importer.materialized(whole))


@operator("asin", "arcsin", "asin_")
def import_asin(importer: Importer, x: Operand) -> Value:
    return _arcsine(importer, x)


@operator("acos", "arccos", "acos_")
def import_acos(importer: Importer, x: Operand) -> Value:
    return importer.elementwise(lambda s: math.pi / 2 - s, _arcsine(importer, x))


@operator("atan", "arctan", "atan_")
def import_atan(importer: Importer, x: Operand) -> Value:
    """Beyond 1 it is pi/2 less that of the reciprocal."""
    held = importer.materialized(x)
    size = importer.materialized(importer.elementwise(abs_, held))
    t = importer.elementwise(lambda a: min_(a, reciprocal(max_(a, 1))), size)
    part = _odd(importer, ARCTANGENT, t)
    whole = importer.elementwise(lambda a, p: select(lt(1, a), math.pi / 2 - p, p), size, part)
    return _with_sign(importer, held, importer.materialized(whole))


@operator("atan2", "arctan2", "atan2_")
def import_atan2(importer: Importer, y: Operand, x: Operand) -> Value:
    """Of the lesser coordinate by the greater one, and then from octant to octant."""
    (y, _), (x, _) = (importer.tensors.as_tensor(importer.value(each)) for each in (y, x))
    across, up = (importer.materialized(importer.elementwise(abs_, each)) for each in (x, y))
    most = importer.materialized(importer.elementwise(max_, across, up))
    t = importer.elementwise(lambda a, u, m: min_(a, u) / select(eq(m, 0), 1, m), across, up, most)
    part = _odd(importer, ARCTANGENT, t)
    steep = importer.elementwise(lambda a, u, p: select(lt(a, u), math.pi / 2 - p, p), across, up, part)
    steep = importer.materialized(steep)
    half = importer.elementwise(lambda e, p: select(lt(e, 0), math.pi - p, p), x, steep)
    return _with_sign(importer, y, importer.materialized(half))


@operator("asinh", "arcsinh")
def import_asinh(importer: Importer, x: Operand) -> Value:
    """Of the magnitude: of a negative number the sum would cancel."""
    held = importer.materialized(x)
    size = importer.materialized(importer.elementwise(abs_, held))
    whole = importer.elementwise(lambda a: log(a + sqrt(a * a + 1)), size)
    return _with_sign(importer, held, importer.materialized(whole))


@operator("acosh", "arccosh")
def import_acosh(importer: Importer, x: Operand) -> Value:
    return importer.elementwise(lambda e: log(e + sqrt(e * e - 1)), importer.materialized(x))


@operator("atanh", "arctanh")
def import_atanh(importer: Importer, x: Operand) -> Value:
    return importer.elementwise(lambda e: log((1 + e) / (1 - e)) * 0.5, importer.materialized(x))


def _error_function(x: Expr, *, rest: bool) -> Expr:
    """erf(x), or 1 - erf(x): gelu(s) / s is the normal distribution's probability of less than s."""
    # Beyond that, infinities included, it is 1 or -1 in any type.
    s = max_(min_(x, 16), -16) * math.sqrt(2)
    below = gelu(s) / select(eq(x, 0), 1, s)
    return select(eq(x, 0), 1, 2 - below * 2) if rest else select(eq(x, 0), 0, below * 2 - 1)


@operator("erf", "special_erf", "erf_")
def import_erf(importer: Importer, x: Operand) -> Value:
    return importer.elementwise(partial(_error_function, rest=False), importer.materialized(x))


@operator("erfc", "special_erfc", "erfc_")
def import_erfc(importer: Importer, x: Operand) -> Value:
    return importer.elementwise(partial(_error_function, rest=True), importer.materialized(x))
