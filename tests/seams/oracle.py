"""What a program means, point by point in plain Python, written from docs/programs.md and docs/sequences.md
alone.

Every tensor is a dense array of `Number`, and every statement a loop over all points of its indices, so that
extents have to be small. Nothing of the project is used but the tree that its parser makes of a text.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from samhw.lang import Program, Statement
from samhw.lang.expr import (
    Access,
    Add,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Recurrence,
    Reshape,
    RunningReduction,
    Sub,
)
from samhw.lang.index import ComputedIndex, IndexExpr, Indirect, Name, StepIndex
from samhw.lang.traverse import free_indices
from tests.seams.arithmetic import OPEN, Arithmetic, Number, UnclearError, arithmetic
from tests.seams.extents import Shape, index_extents, result_shape
from tests.seams.types import Typing

__all__ = ["Result", "evaluate"]

Array = NDArray[np.object_]
Point = Mapping[str, int]
ZERO = Number(0.0)


class Result:
    """What statements have written, as values and how far a machine may be from them.

    Attributes:
        values: by tensor, in float64.
        errors: by tensor; infinite where the order of operations decides.
        may_overflow: whether a run in integers may end in an overflow.
    """

    def __init__(self, tensors: Mapping[str, Array], kinds: Iterable[Arithmetic]) -> None:
        self.values = {name: _each(array, lambda n: n.value) for name, array in tensors.items()}
        self.errors = {name: _each(array, lambda n: n.error) for name, array in tensors.items()}
        self.may_overflow = any(kind.may_overflow for kind in kinds)


def _each(array: Array, of) -> NDArray[np.float64]:
    return np.array([of(number) for number in array.ravel()], float).reshape(array.shape)


def evaluate(program: Program, data: Mapping[str, NDArray], value: str) -> Result:
    """All tensors that the statements of a program write, from dense arrays of the inputs."""
    machine = _Machine(program, data, value)
    statements = list(program.statements)
    while statements:
        scan = statements[0].scan
        block = [s for s in statements if s.scan == scan] if scan else statements[:1]
        del statements[: len(block)]
        if scan:
            machine.scan(block)
        else:
            machine.write(block[0])
    return Result(machine.written, machine.kinds.values())


class _Machine:
    """Tensors as they stand, and the step that a scan is at."""

    def __init__(self, program: Program, data: Mapping[str, NDArray], value: str) -> None:
        self.program, self.default = program, value
        self.kinds: dict[str, Arithmetic] = {}
        self.types = {name: str(d.value) for name, d in program.tensors.items() if d.value is not None}
        earlier = {a.tensor for s in program.statements for a in s.reads if a.step is not None}
        for name in (*(decl.name for decl in program.inputs), *earlier):
            self.types.setdefault(name, value)
        self.typings: dict[Statement, Typing] = {}
        self.typing: Typing
        """Of the present statement,"""
        self.kind: Arithmetic
        """and of what it computes."""
        self.places = {name: np.asarray(data[name]).astype(int) for name in program.index_tensors}
        self.known: dict[str, Array] = {}
        for name, array in data.items():
            if name not in self.places:
                kind = self.arithmetic(self.types[name])
                numbers = [kind.literal(float(x)) for x in np.asarray(array).ravel()]
                self.known[name] = _array(numbers, np.shape(array))
        self.shapes: dict[str, Shape] = {name: np.shape(array) for name, array in data.items()}
        self.written: dict[str, Array] = {}
        self.steps: dict[str, int] = {}
        self.begun: dict[tuple[str, int], Array] = {}
        """By tensor of the scan and distance, what it has before the first step."""
        self.states: set[str] = set()
        """What the present scan writes."""
        self.is_down = False

    def arithmetic(self, kind: str) -> Arithmetic:
        """That of a type, one for each."""
        return self.kinds.setdefault(kind, arithmetic(kind))

    def take(self, statement: Statement) -> None:
        """Makes a statement the present one."""
        if statement not in self.typings:
            self.typings[statement] = Typing(self.program, statement, self.types, self.default)
            self.types.setdefault(statement.lhs.tensor, self.typings[statement].result)
        self.typing = self.typings[statement]
        self.kind = self.arithmetic(self.typing.computed)

    def write(self, statement: Statement) -> None:
        """Computes a statement that stands outside of scans."""
        self.keep(statement.lhs.tensor, self.compute(statement))

    def keep(self, name: str, array: Array) -> None:
        stored = _array([number.stored() for number in array.ravel()], array.shape)
        self.known[name] = self.written[name] = stored
        self.shapes[name] = array.shape

    def scan(self, block: Sequence[Statement]) -> None:
        """A block step by step; what keeps its steps is zero until they have come."""
        scan = block[0].scan
        assert scan is not None
        steps = self.length(block, scan.index)
        for statement in block:
            shape = self.shape_in_scan(statement, scan.index, steps)
            self.keep(statement.lhs.tensor, _filled(shape))
        for start in scan.starts:
            distance = -next(i.offset for i in start.lhs.indices if isinstance(i, ComputedIndex))
            names = tuple(i for i in start.lhs.indices if isinstance(i, Name))
            alone = Statement(Access(start.lhs.tensor, names), start.rhs, mask=start.mask)
            extents = self.extents(start, {scan.index: steps})
            shape = tuple(extents[name.variable] for name in names)
            array = self.compute(alone, extents, shape)
            self.begun[start.lhs.tensor, distance] = _array([n.stored() for n in array.ravel()], array.shape)
        self.is_down, self.states = scan.down, {statement.lhs.tensor for statement in block}
        for position in range(steps):
            self.steps = {scan.index: steps - 1 - position if scan.down else position}
            for statement in block:
                self.step(statement, scan.index, steps)
        self.steps, self.begun, self.states = {}, {}, set()

    def step(self, statement: Statement, index: str, steps: int) -> None:
        """One statement of a block, at the present step."""
        mode = next((m for m, i in enumerate(statement.lhs.indices) if isinstance(i, StepIndex)), None)
        others = tuple(i for i in statement.lhs.indices if not isinstance(i, StepIndex))
        alone = Statement(
            Access(statement.lhs.tensor, others),
            statement.rhs,
            reduction=statement.reduction,
            mask=statement.mask,
            scan=statement.scan,
        )
        whole = self.known[statement.lhs.tensor]
        shape = tuple(extent for m, extent in enumerate(whole.shape) if m != mode)
        array = self.compute(alone, self.extents(statement, {index: steps}), shape)
        stored = _array([number.stored() for number in array.ravel()], array.shape)
        if mode is None:
            self.keep(statement.lhs.tensor, stored)
        else:
            place: list[int | slice] = [slice(None)] * whole.ndim
            place[mode] = self.steps[index]
            whole[tuple(place)] = stored if stored.shape else stored.item()
            self.keep(statement.lhs.tensor, whole)

    def length(self, block: Sequence[Statement], index: str) -> int:
        for statement in block:
            extent = index_extents(self.program, statement, self.shapes).get(index)
            if extent is not None:
                return extent
        raise AssertionError("the text says how many steps there are")

    def shape_in_scan(self, statement: Statement, index: str, steps: int) -> Shape:
        shape = result_shape(self.program, statement, self.extents(statement, {index: steps}))
        # Later statements of the block, read one step back, have their shapes from what they write.
        self.shapes[statement.lhs.tensor] = shape
        return shape

    def extents(self, statement: Statement, known: Mapping[str, int] | None = None) -> dict[str, int]:
        return {**(known or {}), **index_extents(self.program, statement, self.shapes)}

    def compute(
        self, statement: Statement, extents: Mapping[str, int] | None = None, shape: Shape | None = None
    ) -> Array:
        """The result of a statement at the present step."""
        self.take(statement)
        extents = extents or self.extents(statement)
        shape = result_shape(self.program, statement, extents) if shape is None else shape
        match statement.rhs:
            case Reshape(operand):
                return self.known[operand.tensor].reshape(shape)
            case Concat() as concat:
                return self.joined(concat, statement.lhs)
        result = _filled(shape)
        free = free_indices(statement.rhs)
        rank = next((v for v in statement.lhs.variables if v not in free), None)
        is_ranking = statement.reduction in ("top", "bottom", "argtop", "argbottom")
        outer = [v for v in statement.lhs.variables if not (is_ranking and v == rank)]
        inner = [v for v in free if v not in statement.lhs.variables]
        for point in _points(outer, extents):
            if is_ranking:
                assert rank is not None
                best = self.ranked(statement, point, inner, extents)
                for number, place in zip(best, range(extents[rank]), strict=False):
                    self.put(result, statement.lhs, {**point, rank: place}, number)
            else:
                self.put(result, statement.lhs, point, self.reduced(statement, point, inner, extents))
        return self.in_type(result, statement)

    def in_type(self, result: Array, statement: Statement) -> Array:
        """What a statement has computed, in the type of its result; coordinates are already."""
        if statement.reduction.startswith("arg") or self.typing.result == self.typing.computed:
            return result
        kind = self.arithmetic(self.typing.result)
        return _array([kind.converted(number) for number in result.ravel()], result.shape)

    def put(self, result: Array, lhs: Access, point: Point, number: Number) -> None:
        """Adds to the place that the left side gives; what lies outside is dropped."""
        place = self.place(lhs, point, result.shape)
        if place is not None:
            result[place] = self.kind.sum([n for n in (result[place], number) if not n.is_zero] or [number])

    def joined(self, concat: Concat, lhs: Access) -> Array:
        parts = []
        for operand in concat.operands:
            order = [operand.names.index(name) for name in lhs.names]
            parts.append(self.known[operand.tensor].transpose(order))
        return np.concatenate(parts, axis=lhs.names.index(concat.index))

    def reduced(
        self, statement: Statement, point: Point, inner: Sequence[str], extents: Mapping[str, int]
    ) -> Number:
        """What a statement gives at one point of its left side."""
        match statement.rhs:
            case RunningReduction() as running:
                return self.running(running, statement.mask, point, extents)
            case Recurrence() as recurrence:
                return self.recurrence(recurrence, statement.mask, point, extents)
        if statement.reduction == "sum":
            return self.terms(statement, point, extents)
        points = [p for p in _points(inner, extents, point) if self.is_counted(statement.mask, p)]
        numbers = [self.value(statement.rhs, p) for p in points]
        if not numbers:
            return ZERO
        match statement.reduction:
            case "max" | "min" as word:
                self.in_result(numbers)
                return reduce(lambda a, b: self.kind.call(word, (a, b)), numbers)
            case "prod":
                return self.kind.product(numbers)
            case "argmax" | "argmin" as word:
                best = _first(numbers, 1 if word == "argmax" else -1)
                return self.arithmetic(self.typing.result).literal(points[best][inner[0]])
        raise AssertionError(statement.reduction)

    def in_result(self, numbers: Sequence[Number]) -> None:
        """All that is compared is converted before, and may overflow."""
        if self.typing.result != self.typing.computed:
            kind = self.arithmetic(self.typing.result)
            for number in numbers:
                kind.converted(number)

    def terms(self, statement: Statement, point: Point, extents: Mapping[str, int]) -> Number:
        """A sum spans one term, an operand of the outermost + and -."""
        found = []
        for sign, term in _signed(statement.rhs):
            inner = [v for v in free_indices(term) if v not in point]
            if statement.mask is not None:
                inner += [v for v in statement.mask.variables if v not in point and v not in inner]
            for p in _points(inner, extents, point):
                if self.is_counted(statement.mask, p):
                    number = self.value(term, p)
                    found.append(number if sign > 0 else self.kind.negative(number))
        return self.kind.sum(found)

    def ranked(
        self, statement: Statement, point: Point, inner: Sequence[str], extents: Mapping[str, int]
    ) -> list[Number]:
        """The best values along the missing index, or their coordinates, the best one first."""
        points = [p for p in _points(inner, extents, point) if self.is_counted(statement.mask, p)]
        numbers = [self.value(statement.rhs, p) for p in points]
        sign = 1 if statement.reduction in ("top", "argtop") else -1
        order = sorted(range(len(numbers)), key=lambda n: (-sign * numbers[n].value, n))
        _check_distinct([numbers[n] for n in order])
        if statement.reduction.startswith("arg"):
            kind = self.arithmetic(self.typing.result)
            return [kind.literal(points[n][inner[0]]) for n in order]
        self.in_result(numbers)
        return [numbers[n] for n in order]

    def running(
        self, running: RunningReduction, mask: Access | None, point: Point, extents: Mapping[str, int]
    ) -> Number:
        """The reduction of what has come up to this coordinate."""
        if not self.is_counted(mask, point):
            return ZERO
        end = point[running.index] + (not running.exclusive)
        before = [{**point, running.index: n} for n in range(end)]
        numbers = [self.value(running.operand, p) for p in before if self.is_counted(mask, p)]
        of_all = self.kind.product if running.reduction == "prod" else self.kind.sum
        if running.exclusive and running.reduction in ("sum", "prod"):
            # No result, but it is computed, and may overflow.
            of_all([*numbers, self.value(running.operand, point)])
        if not numbers:
            return self.kind.literal(1) if running.reduction == "prod" else ZERO
        if running.reduction in ("max", "min"):
            return reduce(lambda a, b: self.kind.call(running.reduction, (a, b)), numbers)
        return of_all(numbers)

    def recurrence(
        self, recurrence: Recurrence, mask: Access | None, point: Point, extents: Mapping[str, int]
    ) -> Number:
        """h = h * factor + operand, up to this coordinate, or to the end."""
        end = point[recurrence.index] + 1 if recurrence.index in point else extents[recurrence.index]
        if recurrence.index in point and not self.is_counted(mask, point):
            return ZERO
        h: Number | None = None
        factors: Number | None = None
        parts: list[Number] = []
        for n in range(end):
            p = {**point, recurrence.index: n}
            if self.is_counted(mask, p):
                operand, factor = self.value(recurrence.operand, p), self.value(recurrence.factor, p)
                # No result of its own, but a recurrence in blocks computes it, and it may overflow. The first
                # factor is in it.
                factors = factor if factors is None else self.kind.multiply(factors, factor)
                parts.append(operand)
                if h is None:
                    h = operand
                else:
                    parts.append(factor)
                    h = self.kind.add(self.kind.multiply(h, factor), operand)
        if h is None:
            return ZERO
        # In blocks, factors are multiplied by each other before they are by what came before. That takes two
        # factors, between three operands.
        if h.is_open or len(parts) < 5:
            return h
        return replace(h, error=h.error + self.kind.regrouped(h.reach, parts))

    def is_counted(self, mask: Access | None, point: Point) -> bool:
        """Whether the mask is not zero there."""
        if mask is None:
            return True
        number = self.access(mask, point)
        if number.error and number.error >= abs(number.value):
            raise UnclearError("roundings decide what a mask leaves out")
        return number.value != 0

    def value(self, expr: Expr, point: Point) -> Number:
        """An expression at one point, in the type of what the statement computes."""
        return self.operand(expr, point, self.typing.computed)

    def operand(self, expr: Expr, point: Point, kind: str) -> Number:
        """An expression at one point, in a type."""
        if isinstance(expr, Literal):
            return self.arithmetic(kind).literal(expr.value)
        own = self.typing.of.get(id(expr)) or kind
        number = self.result(expr, point, own)
        return number if own == kind else self.arithmetic(kind).converted(number)

    def result(self, expr: Expr, point: Point, own: str) -> Number:
        """What an operation gives, in its own type."""
        kind = self.arithmetic(own)

        def of(child: Expr) -> Number:
            return self.operand(child, point, own)

        match expr:
            case Access():
                return self.access(expr, point)
            case Neg(operand):
                return kind.negative(of(operand))
            case Add(left, right):
                return kind.add(of(left), of(right))
            case Sub(left, right):
                return kind.add(of(left), kind.negative(of(right)))
            case Mul(left, right):
                return kind.multiply(of(left), of(right))
            case Div(left, right):
                return kind.divide(of(left), of(right))
            case Call("to", (operand,)):
                return of(operand)
            case Call("scale", arguments):
                return self.scaled([self.operand(a, point, "i32") for a in arguments], own)
            case Call(function, arguments):
                return kind.call(function, [of(argument) for argument in arguments])
        raise AssertionError(type(expr))

    def scaled(self, numbers: Sequence[Number], own: str) -> Number:
        """round(x * m / 2^s) + z, cut off at the ends of a type; with a zero point by way of i32."""
        if any(number.error for number in numbers):
            return OPEN
        x, m, s, *z = (int(number.value) for number in numbers)
        found = round(Fraction(x * m, 2**s))
        whole, kind = self.arithmetic("i32"), self.arithmetic(own)
        if z:
            moved = whole.add(whole.literal(_cut(found, whole)), whole.literal(z[0]))
            if moved.is_open:
                return OPEN
            found = int(moved.value)
        return kind.literal(_cut(found, kind))

    def access(self, access: Access, point: Point) -> Number:
        """An element, or the zero that stands outside of a tensor."""
        if access.step is not None and access.tensor in self.states:
            mode, index = access.step
            steps = self.known[access.tensor].shape[mode]
            step = self.steps[index.index] + index.offset
            distance = step - steps + 1 if self.is_down else -step
            if distance > 0:
                begun = self.begun.get((access.tensor, distance))
                if begun is None:
                    return ZERO
                rest = tuple(i for m, i in enumerate(access.indices) if m != mode)
                place = self.place(Access(access.tensor, rest), point, begun.shape)
                return ZERO if place is None else begun[place]
        array = self.known[access.tensor]
        place = self.place(access, point, array.shape)
        return ZERO if place is None else array[place]

    def place(self, access: Access, point: Point, shape: Shape) -> tuple[int, ...] | None:
        """Which element an access reads or writes; None outside of the tensor."""
        found = []
        for index, extent in zip(access.indices, shape, strict=True):
            coordinate = self.coordinate(index, point, extent)
            if not 0 <= coordinate < extent:
                return None
            found.append(coordinate)
        return tuple(found)

    def coordinate(self, index: IndexExpr, point: Point, extent: int) -> int:
        match index:
            case Name(variable):
                return point[variable]
            case Indirect(tensor, names):
                return int(self.places[tensor][tuple(point[name] for name in names)])
            case StepIndex(of, offset):
                return self.steps[of] + offset
            case ComputedIndex(terms, offset, outside):
                found = offset + sum(factor * point[name] for name, factor in terms)
                if outside == "wrap":
                    if not extent:
                        raise UnclearError("there is no coordinate to wrap to")
                    return found % extent
                return min(max(found, 0), extent - 1) if outside == "clamp" else found
        raise AssertionError(type(index))


def _cut(number: int, kind: Arithmetic) -> float:
    return min(max(number, kind.lowest), kind.highest)


def _points(names: Sequence[str], extents: Mapping[str, int], base: Point | None = None) -> Iterator[Point]:
    """All combinations of coordinates of some indices, the last one fastest."""
    for coordinates in itertools.product(*(range(extents[name]) for name in names)):
        yield {**(base or {}), **dict(zip(names, coordinates, strict=True))}


def _signed(expr: Expr) -> list[tuple[int, Expr]]:
    """The operands of the outermost + and -, with their signs."""
    match expr:
        case Add(left, right):
            return [*_signed(left), (1, right)]
        case Sub(left, right):
            return [*_signed(left), (-1, right)]
    return [(1, expr)]


def _first(numbers: Sequence[Number], sign: int) -> int:
    _check_distinct(sorted(numbers, key=lambda n: n.value))
    return max(range(len(numbers)), key=lambda n: (sign * numbers[n].value, -n))


def _check_distinct(ordered: Sequence[Number]) -> None:
    """Which of two numbers is greater must not depend on roundings."""
    for a, b in itertools.pairwise(ordered):
        if (a.error or b.error) and abs(a.value - b.value) <= a.error + b.error:
            raise UnclearError("roundings decide which number is greater")


def _array(numbers: Sequence[Number], shape: Shape) -> Array:
    array = np.empty(len(numbers), object)
    array[:] = numbers
    return array.reshape(shape)


def _filled(shape: Shape) -> Array:
    return _array([ZERO] * math.prod(shape), shape)
