"""A second meaning of statements, point by point in plain Python: slow, and independent of NumPy's einsum.

With a `Machine` that rounds, it is also a backend that takes every sum and product in a random order.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np

from samhw.lang import (
    Access,
    Add,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Program,
    Reshape,
    Statement,
    Sub,
)

Number = int | float
Point = Mapping[str, int]


def _nearest(x: Number, dtype: type) -> float:
    """The nearest of all numbers of eight bits, of two that with the even word."""
    words: Any = np.arange(128, dtype=np.uint8).view(dtype)
    numbers = [float(number) for number in words if math.isfinite(float(number))]
    word = min(range(len(numbers)), key=lambda k: (abs(numbers[k] - abs(x)), k % 2))
    too_great = abs(x) >= (3 * numbers[-1] - numbers[-2]) / 2
    return float(np.asarray(x).astype(dtype)) if too_great else math.copysign(numbers[word], x)


FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "relu": lambda x: max(x, 0),
    "leaky_relu": lambda x, slope: x if x > 0 else slope * x,
    "gelu": lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "silu": lambda x: x / (1 + math.exp(-x)) if x > -700 else 0.0,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0,
    "tanh": math.tanh,
    "rint": round,
    "f8e4m3": lambda x: _nearest(x, ml_dtypes.float8_e4m3fn),
    "f8e5m2": lambda x: _nearest(x, ml_dtypes.float8_e5m2),
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "max": max,
    "min": min,
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "eq": lambda a, b: int(a == b),
    "select": lambda c, a, b: a if c else b,
}
EXACT = ("abs", "relu", "max", "min", "lt", "le", "eq", "select")


class Machine:
    """Computes exactly; subclasses round."""

    def number(self, x: Number) -> Number:
        return x

    def add(self, x: Number) -> Number:
        return x

    def multiply(self, x: Number) -> Number:
        return x

    def function(self, x: Number) -> Number:
        return x

    def shuffle(self, items: list[Expr] | list[Number]) -> None:
        pass


class FixedMachine(Machine):
    """Rounds to multiples of 2^-fraction; functions to either neighbour. What does not fit saturates."""

    def __init__(self, width: int, fraction: int, rng: random.Random) -> None:
        self.unit = 2.0**-fraction
        self.lowest = -(2.0 ** (width - 1)) * self.unit
        self.rng = rng

    def add(self, x: Number) -> Number:
        return max(self.lowest, min(x, -self.lowest - self.unit))

    def number(self, x: Number) -> Number:
        return self.add(round(x / self.unit) * self.unit)

    multiply = number

    def function(self, x: Number) -> Number:
        return self.add(self.rng.choice((math.floor, math.ceil))(x / self.unit) * self.unit)

    def shuffle(self, items: list[Expr] | list[Number]) -> None:
        self.rng.shuffle(items)


class FloatMachine(FixedMachine):
    """Rounds to this many mantissa bits; functions to either neighbour."""

    def __init__(self, mantissa: int, rng: random.Random) -> None:
        self.mantissa = mantissa
        self.rng = rng

    def _unit(self, x: Number) -> float:
        return 2.0 ** (math.frexp(x)[1] - 1 - self.mantissa)

    def number(self, x: Number) -> Number:
        return round(x / self._unit(x)) * self._unit(x) if x and abs(x) >= 2.0**-126 else 0.0

    add = multiply = number

    def function(self, x: Number) -> Number:
        return self.rng.choice((math.floor, math.ceil))(x / self._unit(x)) * self._unit(x) if x else 0.0


def run_program(
    program: Program, tensors: Mapping[str, np.ndarray], machine: Machine | None = None
) -> dict[str, np.ndarray]:
    """The result of every statement, each computed from the machine's own results."""
    known = dict(tensors)
    bound = program.bind({name: array.shape for name, array in tensors.items()})
    for statement in bound.statements:
        extents = {index: extent or 1 for index, extent in bound.extents(statement).items()}
        known[statement.lhs.tensor] = run_statement(statement, known, extents, machine)
    return {statement.lhs.tensor: known[statement.lhs.tensor] for statement in bound.statements}


def run_statement(
    statement: Statement,
    tensors: Mapping[str, np.ndarray],
    extents: Mapping[str, int],
    machine: Machine | None = None,
) -> np.ndarray:
    shape = tuple(extents[index] for index in statement.lhs.names)
    match statement.rhs:
        case Reshape(operand):
            elements = tensors[operand.tensor].ravel().tolist()
            return np.array(elements, dtype=object).reshape(shape).astype(tensors[operand.tensor].dtype)
        case Concat():
            return _concat(statement, statement.rhs, tensors, shape)
    walk = _Walk(statement, tensors, extents, machine or Machine())
    points = itertools.product(*map(range, shape))
    values = [walk.result(dict(zip(statement.lhs.names, point, strict=True))) for point in points]
    return np.array(values).reshape(shape)


def _concat(
    statement: Statement, concat: Concat, tensors: Mapping[str, np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    result = np.zeros(shape)
    start = 0
    for access in concat.operands:
        array = tensors[access.tensor]
        for point in np.ndindex(array.shape):
            at = dict(zip(access.names, point, strict=True))
            at[concat.index] += start
            result[tuple(at[index] for index in statement.lhs.names)] = array[point]
        start += array.shape[access.names.index(concat.index)]
    return result


class _Walk:
    def __init__(
        self,
        statement: Statement,
        tensors: Mapping[str, np.ndarray],
        extents: Mapping[str, int],
        machine: Machine,
    ) -> None:
        self.statement = statement
        self.tensors = tensors
        self.extents = extents
        self.machine = machine

    def result(self, point: Point) -> Number:
        if self.statement.reduction == "sum":
            return self.term_sum(self.statement.rhs, point)
        reduced = self.statement.reduction_indices
        values = [self.value(self.statement.rhs, p) for p in self.points(point, reduced)]
        return {"max": max, "min": min}[self.statement.reduction](values, default=0)

    def points(self, point: Point, indices: tuple[str, ...]) -> Iterator[Point]:
        """The points along `indices` at which the mask is not zero."""
        for more in itertools.product(*(range(self.extents[index]) for index in indices)):
            full = {**point, **dict(zip(indices, more, strict=True))}
            if self.statement.mask is None or self.value(self.statement.mask, full):
                yield full

    def term_sum(self, expr: Expr, point: Point) -> Number:
        match expr:
            case Add(left, right):
                return self.machine.add(self.term_sum(left, point) + self.term_sum(right, point))
            case Sub(left, right):
                return self.machine.add(self.term_sum(left, point) - self.term_sum(right, point))
            case Neg(operand):
                return self.machine.add(-self.term_sum(operand, point))
        used = {index for node in _nodes(expr) if isinstance(node, Access) for index in node.names}
        reduced = tuple(index for index in self.statement.reduction_indices if index in used)
        values = [self.value(expr, p) for p in self.points(point, reduced)]
        self.machine.shuffle(values)
        total: Number = 0
        for n, value in enumerate(values):
            total = value if n == 0 else self.machine.add(total + value)
        return total

    def value(self, expr: Expr, point: Point) -> Number:
        match expr:
            case Access(tensor):
                return self.tensors[tensor][tuple(point[index] for index in expr.names)].item()
            case Literal(value):
                return self.machine.number(value)
            case Neg(operand):
                return self.machine.add(-self.value(operand, point))
            case Add(left, right):
                return self.machine.add(self.value(left, point) + self.value(right, point))
            case Sub(left, right):
                return self.machine.add(self.value(left, point) - self.value(right, point))
            case Mul():
                return self.product(expr, point)
            case Div(left, right):
                numerator = self.value(left, point)
                return self.machine.multiply(numerator / self.value(right, point)) if numerator else 0
            case Call(function, arguments):
                result = FUNCTIONS[function](*(self.value(argument, point) for argument in arguments))
                if function in EXACT:
                    return self.machine.add(result)
                # One multiplication, and so correctly rounded.
                round_ = self.machine.multiply if function == "leaky_relu" else self.machine.function
                return round_(result)
        raise AssertionError(expr)

    def product(self, expr: Expr, point: Point) -> Number:
        factors = list(_factors(expr))
        self.machine.shuffle(factors)
        values = [self.value(factor, point) for factor in factors]
        if not all(values):
            return 0
        product = values[0]
        for value in values[1:]:
            product = self.machine.multiply(product * value)
        return product


def _factors(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Mul):
        yield from _factors(expr.left)
        yield from _factors(expr.right)
    else:
        yield expr


def _nodes(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in expr.children:
        yield from _nodes(child)
