"""Operators that go through tensors element by element."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from samhw.importers.core import Value
from samhw.importers.core.formulas import (
    ARCSINE,
    ARCTANGENT,
    clamp,
    elu,
    error_function,
    gelu_of,
    odd,
    softplus,
)
from samhw.importers.core.operators import COMPARISONS, LOGIC, ONCE, SEVERAL_TIMES, Maker
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.registry import operator
from samhw.importers.onnx.values import (
    Held,
    NodeCall,
    Operand,
    is_bool,
    is_float,
    kind_of,
)
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import (
    eq,
    leaky_relu,
    lt,
    reciprocal,
    relu,
    rint,
    select,
    sigmoid,
    sqrt,
)
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__ = ["without"]


def register(name: str, make: Maker, *, condition: bool = False, alone: bool = False) -> None:
    """An operator that is one expression of its operands.

    Args:
        condition: it gives conditions.
        alone: an operand stands in it several times.
    """

    def handler(importer: NodeImporter, call: NodeCall, *operands: Operand) -> Value:
        given = [importer.materialized(x) for x in operands] if alone else operands
        return importer.elementwise(make, *given, condition=condition)

    operator(name)(handler)


def register_with(name: str, make: Maker, **defaults: float) -> None:
    """An operator of one tensor, which may stand in its expression several times, and of attributes."""

    def handler(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
        numbers = {key: _single(call.get(key, default)) for key, default in defaults.items()}
        return importer.elementwise(lambda e: make(e, **numbers), importer.materialized(x))

    operator(name)(handler)


def _single(number: float) -> float:
    """As f32 rounds it."""
    return float(np.float32(number))


for _, _name, _make in ONCE:
    register(_name, _make)

for _, _name, _make in SEVERAL_TIMES:
    register(_name, _make, alone=True)

for _, _name, _make in COMPARISONS:
    register(_name, _make, condition=True)

for _name, _make in LOGIC.items():
    register(_name.capitalize(), _make, condition=True)

register("Sub", lambda a, b: a - b)
register("Round", rint)
register("Erf", partial(error_function, rest=False), alone=True)
register("Softplus", softplus, alone=True)
register("IsNaN", lambda a: 1 - eq(a, a), condition=True, alone=True)
register_with("LeakyRelu", lambda x, alpha: leaky_relu(x, alpha), alpha=0.01)
register_with("Elu", lambda x, alpha: elu(x, alpha), alpha=1.0)
register_with("Celu", lambda x, alpha: elu(x, alpha, 1.0, 1 / alpha), alpha=1.0)
register_with(
    "Selu",
    lambda x, alpha, gamma: elu(x, alpha, gamma),
    alpha=1.67326319217681884765625,
    gamma=1.05070102214813232421875,
)
register_with("HardSigmoid", lambda x, alpha, beta: clamp(x * alpha + beta, 0, 1), alpha=0.2, beta=0.5)
register_with("ThresholdedRelu", lambda x, alpha: select(lt(alpha, x), x, 0), alpha=1.0)
register_with(
    "Shrink",
    lambda x, lambd, bias: select(lt(x, -lambd), x + bias, select(lt(lambd, x), x - bias, 0)),
    lambd=0.5,
    bias=0.0,
)
register_with("Swish", lambda x, alpha: x * sigmoid(x * alpha), alpha=1.0)


@operator("Gelu")
def import_gelu(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    kind = call.get("approximate", "none")
    return importer.elementwise(lambda e: gelu_of(e, kind), importer.materialized(x))


@operator("IsInf")
def import_isinf(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    negative, positive = call.get("detect_negative", 1), call.get("detect_positive", 1)
    held = importer.materialized(x)
    if not negative and not positive:
        return importer.build.literal(0.0, importer.build.shape(held))
    bound = importer.value(Held(np.asarray(math.inf, np.float32), "infinity"))

    def make(e: Expr, most: Expr) -> Expr:
        return eq(abs_(e) if negative and positive else e if positive else -e, most)

    return importer.elementwise(make, held, bound, condition=True)


# Sums and products: what changes nothing is left out.


def without(importer: NodeImporter, x: Operand, other: Operand, number: float) -> Value | None:
    """The first operand as the result broadcasts it, if the other one is this number all over; else None."""
    if importer.number(other) != number or is_bool(kind_of(x)):
        return None
    shape = np.broadcast_shapes(importer.shape(x), importer.shape(other))
    return importer.views.expand(importer.value(x), list(shape))


def _several(importer: NodeImporter, make: Maker, operands: tuple[Operand, ...]) -> Value:
    """Of as many as there are, a few at a time."""
    made: Operand = operands[0]
    for other in operands[1:]:
        made = importer.elementwise(make, made, other)
    return importer.value(made)


@operator("Add")
def import_add(importer: NodeImporter, call: NodeCall, a: Operand, b: Operand) -> Value:
    for x, other in ((a, b), (b, a)):
        if (left := without(importer, x, other, 0)) is not None:
            return left
    for x, other, is_sum in ((a, b, call.sums[:1]), (b, a, call.sums[1:])):
        if isinstance(x, Value) and isinstance(other, Held) and any(is_sum):
            return importer.operations.fused_term(
                importer.build.resolve(x), importer.elementwise(lambda e, f: e + f, x, other)
            )
    return importer.elementwise(lambda x, y: x + y, a, b)


@operator("Mul")
def import_mul(importer: NodeImporter, call: NodeCall, a: Operand, b: Operand) -> Value:
    for x, other in ((a, b), (b, a)):
        if (left := without(importer, x, other, 1)) is not None:
            return left
    return importer.elementwise(lambda x, y: x * y, a, b)


@operator("Sum")
def import_sum(importer: NodeImporter, call: NodeCall, *operands: Operand) -> Value:
    return _several(importer, lambda x, y: x + y, operands)


@operator("Max")
def import_max(importer: NodeImporter, call: NodeCall, *operands: Operand) -> Value:
    return _several(importer, max_, operands)


@operator("Min")
def import_min(importer: NodeImporter, call: NodeCall, *operands: Operand) -> Value:
    return _several(importer, min_, operands)


@operator("Mean")
def import_mean(importer: NodeImporter, call: NodeCall, *operands: Operand) -> Value:
    total = _several(importer, lambda x, y: x + y, operands)
    return importer.elementwise(lambda e: e * (1 / len(operands)), total)


@operator("Clip")
def import_clip(
    importer: NodeImporter,
    call: NodeCall,
    x: Operand,
    least: Operand | None = None,
    most: Operand | None = None,
) -> Value:
    made: Operand = x
    for function, bound in ((max_, least), (min_, most)):
        if bound is None:
            continue
        number = importer.number(bound)
        if number is None:
            made = importer.elementwise(function, made, bound)
        elif math.isfinite(number) and (is_float(kind_of(x)) or abs(number) < 2**31):
            make = relu if function is max_ and number == 0 else partial(_with_number, function, number)
            made = importer.elementwise(make, made)
    return importer.value(made)


def _with_number(function: Maker, number: float, e: Expr) -> Expr:
    return function(e, number)


@operator("PRelu")
def import_prelu(importer: NodeImporter, call: NodeCall, x: Operand, slope: Operand) -> Value:
    shape, sizes = importer.shape(x), importer.shape(slope)
    if len(sizes) == 1 and len(shape) > 1 and sizes[0] not in (1, shape[-1]):
        # Of old models, a number for each channel.
        held = importer.value(slope)
        slope = replace(held, modes=(*held.modes, *[()] * (len(shape) - 2)))
    number = importer.number(slope)
    if number is not None and number != 0:
        shape = np.broadcast_shapes(importer.shape(x), importer.shape(slope))
        made = importer.elementwise(lambda e: leaky_relu(e, number), x)
        return importer.views.expand(made, list(shape))
    return importer.elementwise(lambda e, s: select(lt(e, 0), e * s, e), importer.materialized(x), slope)


@operator("Where")
def import_where(importer: NodeImporter, call: NodeCall, condition: Operand, a: Operand, b: Operand) -> Value:
    return importer.elementwise(select, condition, a, b)


# Inverse functions


@operator("Asin")
def import_asin(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    """Beyond 1/2 it is pi/2 less twice that of sqrt((1 - x) / 2)."""
    held = importer.materialized(x)
    t = importer.materialized(
        importer.elementwise(lambda e: select(lt(0.5, abs_(e)), sqrt((1 - abs_(e)) * 0.5), abs_(e)), held)
    )
    part = importer.materialized(importer.elementwise(lambda e: odd(ARCSINE, e), t))

    def make(e: Expr, p: Expr) -> Expr:
        size = select(lt(0.5, abs_(e)), math.pi / 2 - p * 2, p)
        return select(lt(e, 0), -size, size)

    return importer.elementwise(make, held, part)


@operator("Acos")
def import_acos(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    return importer.elementwise(lambda e: math.pi / 2 - e, import_asin(importer, call, x))


@operator("Atan")
def import_atan(importer: NodeImporter, call: NodeCall, x: Operand) -> Value:
    """Beyond 1 it is pi/2 less that of the reciprocal."""
    held = importer.materialized(x)
    t = importer.materialized(
        importer.elementwise(lambda e: min_(abs_(e), reciprocal(max_(abs_(e), 1))), held)
    )
    part = importer.materialized(importer.elementwise(lambda e: odd(ARCTANGENT, e), t))

    def make(e: Expr, p: Expr) -> Expr:
        size = select(lt(1, abs_(e)), math.pi / 2 - p, p)
        return select(lt(e, 0), -size, size)

    return importer.elementwise(make, held, part)
