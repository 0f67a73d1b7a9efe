"""Quotients, whole numbers and powers."""

import math

import numpy as np

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.element_types import WHOLE
from samhw.importers.core.formulas import (
    powered,
)
from samhw.importers.core.operators import Maker
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.elementwise import without
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import (
    Array,
    Held,
    NodeCall,
    Operand,
    is_float,
    is_whole,
    kind_name,
    kind_of,
    limits,
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
    scale,
    select,
    sqrt,
    to,
)
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__ = [
    "ceiled",
    "divided",
    "floored",
    "low_bits",
    "modulo",
    "shifted",
    "truncated",
    "wrapped",
]

# Integers that are exact: what is left of some bits, and quotients.


GREATEST = int(WHOLE.greatest)


def shifted(importer: NodeImporter, x: Operand, bits: Array) -> Value:
    """x / 2^bits rounded down, for numbers of bits that are broadcast with it."""
    # What is beyond 30 bits leaves the sign alone. A scale takes no number of the text.
    few, (held, _) = bits <= 30, importer.tensors.as_tensor(importer.value(x))
    shifts, most, powers = (
        Held(np.where(few, *each).astype(np.int64), name)
        for name, each in (
            ("shifts", (bits, 62)),
            ("most", ((1 << (31 - np.minimum(bits, 31))) - 1, 0)),
            ("powers", (1 << np.minimum(bits, 30), 0)),
        )
    )
    near = importer.materialized(
        importer.elementwise(lambda e, s, m: min_(scale(e, 1, s), m), held, shifts, most)
    )
    return importer.elementwise(lambda e, q, p: q - lt(e, q * p), held, near, powers)


def wrapped(importer: NodeImporter, x: Operand, kind: int) -> Value:
    """What the last bits of an integer are as one of a narrower type. Integers of 32 and 64 bits are taken to
    fit."""
    ends = limits(kind)
    if ends.bits > 16 or importer.real is None:
        importer.note(f"Integers are taken to fit {kind_name(kind)}.")
        return importer.value(x)
    (held, _), whole = importer.tensors.as_tensor(importer.value(x)), 1 << ends.bits
    most = (1 << (31 - ends.bits)) - 1
    near = importer.materialized(
        importer.elementwise(lambda e: e - min_(scale(e, 1, ends.bits), most) * whole, held)
    )
    if ends.min < 0:
        # From -whole/2 to whole/2, both of which are the same.
        return importer.elementwise(lambda r: select(lt(ends.max, r), r - whole, r), near)
    return importer.elementwise(lambda r: select(lt(r, 0), r + whole, r), near)


def low_bits(importer: NodeImporter, x: Operand, bits: Array) -> Value:
    """What the last bits of an integer of 32 bits are as one with a sign, for numbers of bits that are
    broadcast with it."""
    half = np.where((bits > 0) & (bits < 32), 1 << (np.clip(bits, 1, 32) - 1), 0)
    shifts, halves = Held(np.clip(bits, 0, 62), "bits"), Held(half, "halves")
    held, _ = importer.tensors.as_tensor(importer.value(x))
    near = importer.materialized(importer.elementwise(lambda e, s: scale(e, 1, s), held, shifts))
    left = importer.materialized(importer.elementwise(lambda e, q, h: e - q * h - q * h, held, near, halves))
    # From -half to half, both of which are the same.
    return importer.elementwise(lambda r, h: select(eq(r, h), -h, r), left, halves)


# Quotients


def divided(importer: NodeImporter, a: Operand, b: Operand) -> Value:
    """The quotient of integers without its fraction: in floating point twice, and then mended. One near 2^31
    overflows."""
    if importer.real is None:
        return _divided_in_one_type(importer, a, b)
    number = importer.number(b)
    if number is not None and number != 0:
        return _by_number(importer, a, int(number))
    a, b = importer.materialized(a), importer.materialized(b)

    def quotient(x: Expr, y: Expr) -> Expr:
        return to(WHOLE, rint(to(importer.real or WHOLE, x) / to(importer.real or WHOLE, y)))

    near = importer.materialized(importer.elementwise(quotient, a, b))
    left = importer.materialized(importer.elementwise(lambda x, y, q: x - q * y, a, b, near))
    more = importer.materialized(importer.elementwise(lambda q, r, y: q + quotient(r, y), near, left, b))
    left = importer.materialized(importer.elementwise(lambda x, y, q: x - q * y, a, b, more))
    return _mended(importer, a, more, left, b)


def _by_number(importer: NodeImporter, a: Operand, number: int) -> Value:
    """By one number: a product with its reciprocal to 31 bits is off by one at most."""
    size = abs(number)
    if size == 1:
        return importer.elementwise(lambda e: e * number, a)
    held, bits = importer.materialized(a), 30 + (size - 1).bit_length()
    factor = ((1 << bits) + size // 2) // size
    low, high = -((GREATEST + 1) // size), GREATEST // size
    near = importer.materialized(
        importer.elementwise(lambda e: max_(min_(scale(e, factor, bits), high), low), held)
    )
    left = importer.materialized(importer.elementwise(lambda e, q: e - q * size, held, near))
    made = _mended(importer, held, near, left)
    return made if number > 0 else importer.elementwise(lambda e: -e, made)


def _mended(
    importer: NodeImporter, a: Value, quotient: Value, left: Value, divisor: Value | None = None
) -> Value:
    """A quotient, which is off by one where what is left has not the sign of what is divided."""

    def mended(x: Expr, q: Expr, r: Expr, *by: Expr) -> Expr:
        negative = eq(lt(x, 0), 1 - lt(by[0], 0)) if by else lt(x, 0)
        return select(eq(r, 0), q, select(eq(lt(r, 0), lt(x, 0)), q, q + select(negative, 1, -1)))

    given = [] if divisor is None else [divisor]
    return importer.materialized(importer.elementwise(mended, a, quotient, left, *given))


def _divided_in_one_type(importer: NodeImporter, a: Operand, b: Operand) -> Value:
    """Half of one more never is at a whole quotient."""
    a, b = importer.materialized(a), importer.materialized(b)

    def make(x: Expr, y: Expr) -> Expr:
        size = (abs_(x) + 0.5) / abs_(y)
        down = rint(size) - lt(size, rint(size))
        return select(eq(lt(x, 0), lt(y, 0)), down, -down)

    return importer.materialized(importer.elementwise(make, a, b))


def modulo(importer: NodeImporter, a: Operand, b: Operand, *, down: bool) -> Value:
    """What is left of integers: of the quotient rounded down, or towards zero."""
    a, b = importer.materialized(a), importer.materialized(b)
    quotient = divided(importer, a, b)
    left = importer.materialized(importer.elementwise(lambda x, y, q: x - y * q, a, b, quotient))
    if not down:
        return left
    return importer.elementwise(
        lambda r, y: select(eq(r, 0), 0, select(eq(lt(r, 0), lt(y, 0)), r, r + y)), left, b
    )


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
