"""Operators that go through tensors element by element."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from samhw.importers.core import UnsupportedError, Value, check_unmasked
from samhw.importers.core.operators import (
    COMPARISONS,
    LOGIC,
    ONCE,
    SEVERAL_TIMES,
    Maker,
    clamp,
    elu,
    error_function,
    gelu_of,
    powered,
    sinc,
    softplus,
)
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import eq, exp, leaky_relu, log, lt, rint, rsqrt, select, silu, sqrt, tanh
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__: list[str] = []


def register(names: str, make: Maker, *, condition: bool = False) -> None:
    """An operator that is one expression of its arguments, each of which stands in it once."""

    def handler(importer: Importer, *arguments: Operand, **_: object) -> Value:
        return importer.elementwise(make, *arguments, condition=condition)

    for name in names.split():
        operator(name)(handler)


def register_many(names: str, make: Maker, *, parameters: int = 0) -> None:
    """An operator of one tensor, which stands in its expression several times, and of numbers after it."""

    def handler(importer: Importer, x: Operand, *numbers: float, **named: object) -> Value:
        made = partial(make, **named) if parameters else make
        return importer.elementwise(lambda e: made(e, *numbers[:parameters]), importer.materialized(x))

    for name in names.split():
        operator(name)(handler)


def register_vanishing(names: str, make: Maker) -> None:
    """An operator of one tensor that gives 0 for -inf: of a value that is -inf at places, a statement under
    its mask."""

    def handler(importer: Importer, x: Operand, **_: object) -> Value:
        made = importer.elementwise(make, x)
        if made.mask is None:
            return made
        # The mask's indices are the statement's too.
        made = importer.tensors.expanded_over(importer.build.resolve(made), made.mask.names)
        return importer.tensors.materialized(replace(made, mask=None), mask=made.mask)

    for name in names.split():
        operator(name, masked=True)(handler)


def register_of_two(names: str, make: Maker) -> None:
    """An operator of two tensors, which stand in its expression several times."""

    def handler(importer: Importer, a: Operand, b: Operand) -> Value:
        return importer.elementwise(make, importer.materialized(a), importer.materialized(b))

    for name in names.split():
        operator(name)(handler)


_VANISHING = {"exp", "relu", "sigmoid"}

for _names, _, _function in ONCE:
    (register_vanishing if _names in _VANISHING else register)(_names, _function)

for _names, _, _function in SEVERAL_TIMES:
    register_many(_names, _function)

for _names, _, _function in COMPARISONS:
    register(_names, _function, condition=True)

register("ne", lambda a, b: 1 - eq(a, b), condition=True)
register("logical_not", LOGIC["not"], condition=True)

_SINGLE: dict[str, Maker] = {
    "silu": silu,
    "rsqrt": rsqrt,
    "maximum": max_,
    "minimum": min_,
    "exp2": lambda x: exp(x * math.log(2)),
    "expm1": lambda x: exp(x) - 1.0,
    "log1p": lambda x: log(x + 1.0),
    "log2": lambda x: log(x) * (1 / math.log(2)),
    "log10": lambda x: log(x) * (1 / math.log(10)),
}
for _names, _function in _SINGLE.items():
    register(_names, _function)

_OF_TWO: dict[str, Maker] = {
    # Equal infinities have no difference.
    "logaddexp": lambda a, b: max_(a, b) + log(1 + exp(-select(eq(a, b), 0, abs_(a - b)))),
    "xlogy special_xlogy": lambda a, b: select(eq(a, 0), 0, a * log(b)),
    "heaviside": lambda a, b: select(eq(a, 0), b, lt(0, a)),
}
for _names, _function in _OF_TWO.items():
    register_of_two(_names, _function)


def register_of_conditions(name: str, make: Maker) -> None:
    """What is said of conditions, and of their bits, which are the same. Of numbers the former asks whether
    they are 0."""

    def of_bits(importer: Importer, *arguments: Operand) -> Value:
        given = tuple(map(importer.masks.condition, arguments))
        return importer.elementwise(make, *given, condition=True)

    def logical(importer: Importer, *arguments: Operand) -> Value:
        given = [
            x if importer.masks.is_condition(x) else importer.elementwise(lambda e: 1 - eq(e, 0), x)
            for x in arguments
        ]
        return importer.elementwise(make, *given, condition=True)

    operator(f"bitwise_{name}")(of_bits)
    if name != "not":
        operator(f"logical_{name}")(logical)


for _names, _function in LOGIC.items():
    register_of_conditions(_names, _function)


@operator("clamp", "clip")
def import_clamp(
    importer: Importer, x: Operand, min: Operand | None = None, max: Operand | None = None
) -> Value:
    """Between numbers, or tensors."""
    if not all(bound is None or isinstance(bound, int | float) for bound in (min, max)):
        for function, bound in ((max_, min), (min_, max)):
            x = x if bound is None else importer.elementwise(function, x, bound)
        return importer.value(x)
    return importer.elementwise(lambda e: clamp(e, min, max), x)  # type: ignore[arg-type]


@operator("hardtanh")
def import_hardtanh(importer: Importer, x: Operand, min_val: float = -1.0, max_val: float = 1.0) -> Value:
    return import_clamp(importer, x, min_val, max_val)


@operator("clamp_min")
def import_clamp_min(importer: Importer, x: Operand, least: Operand) -> Value:
    return import_clamp(importer, x, least)


@operator("clamp_max")
def import_clamp_max(importer: Importer, x: Operand, greatest: Operand) -> Value:
    return import_clamp(importer, x, None, greatest)


for _names, _function, _parameters in (
    ("softplus", softplus, 2),
    ("hardsigmoid", lambda x: clamp(x + 3.0, 0, 6) * (1 / 6), 0),
    ("elu", elu, 3),
    ("celu", lambda x, alpha=1.0: elu(x, alpha, 1.0, 1 / alpha), 1),
    ("selu", lambda x: elu(x, 1.6732632423543772, 1.0507009873554805), 0),
    ("gelu", gelu_of, 1),
    ("log_sigmoid", lambda x: -softplus(-x), 0),
    ("sinc", sinc, 0),
    ("tanhshrink", lambda x: x - tanh(x), 0),
    ("erf special_erf", partial(error_function, rest=False), 0),
    ("erfc special_erfc", partial(error_function, rest=True), 0),
):
    register_many(_names, _function, parameters=_parameters)


@operator("leaky_relu")
def import_leaky_relu(importer: Importer, x: Operand, slope: float = 0.01) -> Value:
    return importer.elementwise(lambda e: leaky_relu(e, slope), x)


def without(importer: Importer, x: Operand, other: Operand, number: float) -> Value | None:
    """The first operand as the result broadcasts it, if the other one is this number all over, which changes
    nothing, or only the sign of a zero; None if it is not."""
    if isinstance(other, Known):
        is_number = other.held is None and host.uniform(other.dense()) == number
    else:
        is_number = isinstance(other, int | float) and other == number
    if not is_number or importer.masks.is_condition(x):
        return None
    shape = np.broadcast_shapes(importer.shape(x), importer.shape(other))
    return importer.views.expand(importer.value(x), list(shape))


@operator("add", masked=True)
def import_add(importer: Importer, a: Operand, b: Operand, *, alpha: float = 1) -> Value:
    if importer.masks.is_condition(a) and importer.masks.is_condition(b):
        return importer.elementwise(max_, a, b, condition=True)
    a, b = importer.masks.unmasked_sum(a, b) if alpha == 1 else (a, b)
    if alpha == 1 and (left := without(importer, b, a, 0)) is not None:
        return left
    if (left := without(importer, a, b, 0)) is not None:
        return left
    return importer.elementwise(lambda x, y: x + (y if alpha == 1 else y * alpha), a, b)


@operator("sub", masked=True)
def import_sub(importer: Importer, a: Operand, b: Operand, *, alpha: float = 1) -> Value:
    check_unmasked(b)
    if (left := without(importer, a, b, 0)) is not None:
        return left
    return importer.elementwise(lambda x, y: x - (y if alpha == 1 else y * alpha), a, b)


@operator("mul", masked=True)
def import_mul(importer: Importer, a: Operand, b: Operand) -> Value:
    for x, other in ((a, b), (b, a)):
        if (left := without(importer, x, other, 1)) is not None:
            return left
    both = importer.masks.is_condition(a) and importer.masks.is_condition(b)
    return importer.elementwise(lambda x, y: x * y, a, b, condition=both)


@operator("div", masked=True)
def import_div(importer: Importer, a: Operand, b: Operand, *, rounding_mode: str | None = None) -> Value:
    check_unmasked(b)
    if rounding_mode is not None:
        check_unmasked(a)
        if rounding_mode == "floor":
            return cast(Value, importer.call("floor_divide", a, b))
        return cast(Value, importer.call("trunc", importer.elementwise(lambda x, y: x / y, a, b)))
    if (left := without(importer, a, b, 1)) is not None:
        return left
    if isinstance(b, int | float) and b:
        return importer.elementwise(lambda x: x * (1 / b), a)
    return importer.elementwise(lambda x, y: x / y, a, b)


@operator("pow", "float_power")
def import_pow(importer: Importer, x: Operand, power: Operand) -> Value:
    if isinstance(power, Known) and (number := host.uniform(power.dense())) is not None:
        # The power's own shape counts, where it is the greater one.
        x, power = importer.elementwise(lambda e, _: e, x, power), number
    if isinstance(x, int | float) and x > 0:
        factor = math.log(x)
        return importer.elementwise(lambda e: exp(e * factor), power)
    if not isinstance(power, int | float):
        raise UnsupportedError("takes a tensor as the power", "use a number, or exp(p * log(x))")
    x = importer.materialized(x)
    roots: dict[float, Callable[[Expr], Expr]] = {
        0.5: sqrt,
        -0.5: rsqrt,
        1.5: lambda e: e * sqrt(e),
    }
    if float(power) in roots:
        return importer.elementwise(roots[float(power)], x)
    if float(power) != int(power):
        # Of negative numbers that is NaN in PyTorch too, but for the infinite one.
        return importer.elementwise(
            lambda e, least: exp(log(select(eq(e, least), -e, e)) * power), x, -math.inf
        )
    if power == 0:
        return importer.build.literal(1.0, importer.build.shape(x))
    if not 1 <= abs(power) <= 16:
        raise UnsupportedError(f"has the power {power}", "use a whole one from -16 to 16, or a fraction")

    return importer.elementwise(lambda e: powered(e, int(power)), x)


@operator("where", masked=True)
def import_where(importer: Importer, condition: Operand, a: Operand, b: Operand) -> Value:
    if importer.masks.is_minus_infinity(b):
        return importer.masks.masked(a, condition)
    if importer.masks.is_minus_infinity(a):
        return importer.masks.masked(b, importer.masks.negated(condition))
    check_unmasked(a, b)
    return importer.elementwise(select, condition, a, b)


@operator("round")
def import_round(importer: Importer, x: Operand, *, decimals: int = 0) -> Value:
    scale = 10.0**decimals
    return importer.elementwise(lambda e: rint(e * scale) / scale if decimals else rint(e), x)
