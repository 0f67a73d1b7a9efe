"""What a program means, point by point in plain Python, by the rules of docs/programs.md.

A value is a number, and whether it is exact in every value type of the tests; or None where the rules leave
open what comes out, such as infinity minus infinity inside of a sum that may be regrouped.
"""

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.support.oracle.language import (
    Apply,
    Concat,
    Expr,
    Number,
    Program,
    Recurrence,
    Reshape,
    RunningReduction,
    Statement,
    Use,
    indices_of,
)

__all__ = ["Results", "Value", "run"]

Real = int | float
Point = Mapping[str, int]


class Value(NamedTuple):
    """A number; `exact` unless a rounding function has taken part in it."""

    number: Real
    exact: bool = True


Array = dict[tuple[int, ...], Value | None]
Results = dict[str, Array]
ZERO = Value(0)


def run(program: Program, arrays: Mapping[str, NDArray[np.generic]]) -> Results:
    """The value of each element of each result, by its coordinates."""
    known: dict[str, Array] = {
        name: {point: Value(array[point].item()) for point in np.ndindex(array.shape)}
        for name, array in arrays.items()
    }
    shapes = {tensor.name: tensor.shape for tensor in program.tensors}
    for statement in program.statements:
        target = statement.target
        match statement.expr:
            case Concat() as concat:
                known[target.tensor] = _concatenated(target, concat, known, shapes)
            case Reshape(operand):
                # In row-major order, both.
                moved = [value for _, value in sorted(known[operand.tensor].items())]
                known[target.tensor] = dict(zip(np.ndindex(shapes[target.tensor]), moved, strict=True))
            case RunningReduction() as run:
                computed = _Statement(statement, run.operand, known, arrays.keys(), program.extents)
                known[target.tensor] = computed.running(run)
            case Recurrence() as run:
                computed = _Statement(statement, run.operand, known, arrays.keys(), program.extents)
                known[target.tensor] = computed.recurrence(run)
            case expr:
                computed = _Statement(statement, expr, known, arrays.keys(), program.extents)
                known[target.tensor] = computed.result()
    return {statement.target.tensor: known[statement.target.tensor] for statement in program.statements}


def _concatenated(
    target: Use, concat: Concat, known: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]]
) -> Array:
    """The parts, each after those before it."""
    result: Array = {}
    before = 0
    for part in concat.parts:
        for coordinates, value in known[part.tensor].items():
            point = dict(zip(part.indices, coordinates, strict=True))
            point[concat.index] += before
            result[tuple(point[i] for i in target.indices)] = value
        before += shapes[part.tensor][part.indices.index(concat.index)]
    return result


class _Statement:
    def __init__(
        self,
        statement: Statement,
        expr: Expr,
        known: Mapping[str, Array],
        inputs: Collection[str],
        extents: Mapping[str, int],
    ) -> None:
        self.statement = statement
        self.expr = expr
        self.known = known
        self.inputs = inputs
        self.extents = extents

    def result(self) -> Array:
        indices = self.statement.target.indices
        combine = self.extreme
        if self.statement.reduction in ("sum", "argmax", "argmin"):
            combine = self.sum if self.statement.reduction == "sum" else self.coordinate
        elif self.statement.reduction in ("top", "bottom", "argtop", "argbottom"):
            combine = self.ranked
        return {
            tuple(point[i] for i in indices): combine(self.expr, point) for point in self.points({}, indices)
        }

    def points(self, point: Point, indices: tuple[str, ...]) -> Iterator[Point]:
        for coordinates in itertools.product(*(range(self.extents[i]) for i in indices)):
            yield {**point, **dict(zip(indices, coordinates, strict=True))}

    def present(self, point: Point) -> bool | None:
        """Whether the mask lets a point count; None if nobody can say."""
        if self.statement.mask is None:
            return True
        mask = self.value(self.statement.mask, point)
        return None if mask is None or not (mask.exact or mask.number == 0) else mask.number != 0

    def sum(self, expr: Expr, point: Point) -> Value | None:
        """The sum of all terms, each over its own indices."""
        match expr:
            case Apply("+" | "-" | "neg" as op, operands):
                return _apply(op, [self.sum(operand, point) for operand in operands])
        own = set(indices_of(expr))
        over = tuple(i for i in self.statement.reduced if i in own)
        total: Value | None = None
        for n, full in enumerate(self.points(point, over)):
            here = self.present(full)
            if here is None:
                return None
            value = self.value(expr, full) if here else ZERO
            total = value if n == 0 else _apply("+", [total, value])
        # Factors without the index may be taken out of the sum, which shows in what is not finite.
        if over and total is not None and math.isnan(total.number):
            return None
        return total

    def extreme(self, expr: Expr, point: Point) -> Value | None:
        """The greatest or least value, or the product, along the reduced indices; the mask's points only."""
        best: Value | None = None
        found = False
        for full in self.points(point, self.statement.reduced):
            here = self.present(full)
            if here is None:
                return None
            if here:
                value = self.value(expr, full)
                best = _apply(_REDUCTIONS[self.statement.reduction], [best, value]) if found else value
                found = True
        return best if found else ZERO

    def coordinate(self, expr: Expr, point: Point) -> Value | None:
        """The coordinate of the first NaN, or of the first of the greatest or least values."""
        (index,) = self.statement.reduced
        best: Value | None = None
        at = 0
        for full in self.points(point, (index,)):
            here = self.present(full)
            value = self.value(expr, full) if here else ZERO
            if here is None or value is None or not value.exact:
                return None
            if here and (best is None or _beats(self.statement.reduction, value.number, best.number)):
                best, at = value, full[index]
        return Value(at)

    def ranked(self, expr: Expr, point: Point) -> Value | None:
        """The value, or the coordinate, of the rank that the point has along the index that the expression
        lacks."""
        (index,) = self.statement.reduced
        (rank,) = set(self.statement.target.indices) - set(indices_of(expr))
        reduction = self.statement.reduction
        found = []
        for full in self.points(point, (index,)):
            here = self.present(full)
            value = self.value(expr, full) if here else ZERO
            if here is None or value is None or not value.exact:
                return None
            if here:
                nan = math.isnan(value.number)
                key = 0 if nan else value.number if reduction.endswith("bottom") else -value.number
                found.append((not nan, key, full[index], value))
        found.sort(key=lambda entry: entry[:3])
        if point[rank] >= len(found):
            return ZERO
        *_, at, value = found[point[rank]]
        return Value(at) if reduction.startswith("arg") else value

    def running(self, run: RunningReduction) -> Array:
        """The running reduction at each point; the mask's points only."""
        result: Array = {}
        indices = self.statement.target.indices
        for point in self.points({}, indices):
            so_far = [{**point, run.index: n} for n in range(point[run.index] + (not run.exclusive))]
            present = [self.present(before) for before in (*so_far, point)]
            there = tuple(point[i] for i in indices)
            if None in present:
                result[there] = None
                continue
            found = [
                self.value(run.operand, p) for p, is_there in zip(so_far, present, strict=False) if is_there
            ]
            total: Value | None = Value(1 if run.reduction == "prod" else 0)
            for n, value in enumerate(found):
                total = _apply(_REDUCTIONS[run.reduction], [total, value]) if n else value
            result[there] = total if present[-1] else ZERO
        return result

    def recurrence(self, run: Recurrence) -> Array:
        """The recurrence at each point, the mask's points only; or after all points of an index."""
        result: Array = {}
        indices = self.statement.target.indices
        runs = run.index in indices
        for point in self.points({}, indices):
            ends = point[run.index] + 1 if runs else self.extents[run.index]
            so_far = [{**point, run.index: n} for n in range(ends)]
            there = [self.present(before) for before in so_far]
            h: Value | None = ZERO
            for n, (before, is_there) in enumerate(zip(so_far, there, strict=True)):
                if is_there:
                    value = self.value(run.operand, before)
                    if any(there[:n]):
                        h = _apply("+", [_apply("*", [h, self.value(run.factor, before)]), value])
                    else:
                        h = value
            if None in there:
                h = None
            elif runs and not there[-1]:
                h = ZERO
            result[tuple(point[i] for i in indices)] = h
        return result

    def value(self, expr: Expr, point: Point) -> Value | None:
        match expr:
            case Use(tensor, indices):
                return self.known[tensor][tuple(point[i] for i in indices)]
            case Number(value):
                return Value(value)
            case Apply("/", (left, right)):
                # The sign of a computed zero is nobody's: it depends on what is stored.
                plain = isinstance(right, Number) or (isinstance(right, Use) and right.tensor in self.inputs)
                return _divide(self.value(left, point), self.value(right, point), plain)
            case Apply(op, operands):
                return _apply(op, [self.value(operand, point) for operand in operands])


def _divide(a: Value | None, b: Value | None, plain: bool) -> Value | None:
    if a is not None and a.number == 0:
        return ZERO
    if a is None or b is None:
        return None
    if b.number == 0:
        return Value(a.number * math.inf, a.exact) if plain and b.exact and a.exact else None
    return Value(a.number / b.number, False)


def _apply(op: str, operands: list[Value | None]) -> Value | None:
    if op == "*":
        if any(o is not None and o.number == 0 and o.exact for o in operands):
            return ZERO
    elif op == "select":
        condition, a, b = operands
        if condition is None or not condition.exact:
            return None
        return a if condition.number != 0 else b
    known = [o for o in operands if o is not None]
    if len(known) < len(operands):
        return None
    exact = all(o.exact for o in known)
    if op in _COMPARISONS and not exact:
        return None
    numbers = [o.number for o in known]
    return Value(_OPERATIONS[op](*numbers), exact and op not in _ROUNDING)


def _beats(reduction: str, value: Real, best: Real) -> bool:
    if math.isnan(value) or math.isnan(best):
        return not math.isnan(best)
    return value > best if reduction == "argmax" else value < best


def _greatest(pick: Callable[..., Real]) -> Callable[[Real, Real], Real]:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else pick(a, b)


def _product(a: Real, b: Real) -> Real:
    return 0 if a == 0 or b == 0 else a * b


def _exp(x: Real) -> float:
    return math.inf if x > 700 else math.exp(x)


def _sigmoid(x: Real) -> float:
    return 0.0 if x < -700 else 1 / (1 + math.exp(-x))


def _of_angle(function: Callable[[Real], float]) -> Callable[[Real], float]:
    return lambda x: math.nan if math.isinf(x) else function(x)


_REDUCTIONS = {"sum": "+", "max": "max", "min": "min", "prod": "*"}
_COMPARISONS = ("lt", "le", "eq")
_ROUNDING = ("exp", "sigmoid", "tanh", "sin", "cos")

_OPERATIONS: dict[str, Callable[..., Real]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": _product,
    "neg": lambda a: -a,
    "abs": abs,
    "relu": lambda a: math.nan if math.isnan(a) else max(a, 0),
    "leaky_relu": lambda a, slope: a if a > 0 or math.isnan(a) else _product(a, slope),
    "max": _greatest(max),
    "min": _greatest(min),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "eq": lambda a, b: int(a == b),
    "exp": _exp,
    "sigmoid": _sigmoid,
    "tanh": math.tanh,
    "sin": _of_angle(math.sin),
    "cos": _of_angle(math.cos),
}
