"""Products of integers that stand for real numbers: they are multiplied and summed as integers, and what zero
points and scales do to that is done once for each sum.

A sum of (x + c)(w + d) is those of x w, c w, x d and c d. What is made of constants alone is a constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.graph.numerics import Integer
from samhw.importers.core.draft import Build
from samhw.importers.core.element_expressions import Operations
from samhw.importers.core.host_array import HostArray
from samhw.importers.core.scaled import I8, I16, I32, U8, Scaled, as_constant, known, scaled
from samhw.importers.core.summed_products import summed
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Value
from samhw.lang.expr import Access, Add, Expr, Literal, Neg, Sub
from samhw.lang.functions import to
from samhw.lang.traverse import free_indices
from samhw.lang.typed import REAL

__all__ = ["contract", "most_of"]

Array = npt.NDArray[Any]


def contract(
    tensors: Tensors, equation: str, *operands: Value, reduction: str = "sum", by_first: bool = False
) -> Value:
    """An einsum, as `summed` has it. Where all operands are integers times a scale it is a product of
    integers, times the scales."""
    if reduction == "sum" and not by_first:
        made = _of_integers(tensors, equation, operands)
        if made is not None:
            return made
    return summed(tensors, equation, *operands, reduction=reduction, by_first=by_first)


def most_of(build: Build, access: Access) -> int:
    """A bound of the magnitude of a tensor of integers."""
    stored = build.stored[access.tensor]
    if stored.is_constant and stored.example is not None:
        return int(np.abs(stored.example.values.astype(np.int64)).max(initial=0))
    if stored.most is not None:
        return stored.most
    assert isinstance(stored.kind, Integer)
    return int(max(-stored.kind.least, stored.kind.greatest))


@dataclass(frozen=True)
class _Factor:
    """An operand of a product of integers.

    Attributes:
        row: its letters.
        value: it, as it was given.
        form: what it says; of a constant of whole numbers without a scale, that alone.
        numbers: the integers of a constant, with a dimension for each letter: 1 where they do not differ.
        shift: what is added to them, likewise; None for nothing, and for what a run decides.
    """

    row: str
    value: Value
    form: Scaled
    numbers: Array | None
    shift: Array | None

    @property
    def is_shifted(self) -> bool:
        return self.form.shift is not None


def _of_integers(tensors: Tensors, equation: str, operands: Sequence[Value]) -> Value | None:
    """The product in integers; None where an operand is something else, or its scale differs along what is
    summed, or where a sum may leave i32."""
    build = tensors.build
    inputs, _, output = equation.partition("->")
    values = [build.resolve(operand) for operand in operands]
    rows = inputs.split(",")
    forms = [None if value.mask is not None else scaled(build, value.expr) for value in values]
    if not any(forms) or any(len(set(row)) < len(row) for row in rows):
        return None
    if any(
        form is None and known(build, v.expr, v.indices) is None
        for form, v in zip(forms, values, strict=True)
    ):
        return _with_scale_after(tensors, equation, values, forms)
    factors = [_factor(tensors, row, value) for row, value in zip(rows, values, strict=True)]
    if not all(factors):
        return None
    product = _Product(tensors, output, [factor for factor in factors if factor is not None])
    return product.made() if product.fits else None


def _gone(row: str, value: Value, output: str) -> set[str]:
    """The indices of an operand that are summed over."""
    return {i for letter, mode in zip(row, value.modes, strict=True) if letter not in output for i in mode}


def _with_scale_after(
    tensors: Tensors, equation: str, values: Sequence[Value], forms: Sequence[Scaled | None]
) -> Value | None:
    """Constants of integers beside other real numbers: multiplied as they are stored, and scaled once for
    each sum. None where that cannot be."""
    build = tensors.build
    inputs, _, output = equation.partition("->")
    given, scales = list(values), []
    for place, (row, value, form) in enumerate(zip(inputs.split(","), values, forms, strict=True)):
        if form is None or form.shift is not None or not build.stored[form.whole.tensor].is_constant:
            continue
        if form.scale is None or not set(free_indices(form.scale)) & _gone(row, value, output):
            given[place] = replace(value, expr=form.whole)
            scales += [] if form.scale is None else [_under(row, value, form.scale, output)]
    if given == list(values):
        return None
    made = summed(tensors, equation, *given)
    return Operations(build, tensors).elementwise(lambda e, *more: _times(e, more), made, *scales)


def _under(row: str, value: Value, expr: Expr, output: str) -> Value:
    """An expression under those indices of an operand that the result has."""
    modes = dict(zip(row, value.modes, strict=True))
    free = set(free_indices(expr))
    return Value(tuple(modes[x] if x in modes and free & set(modes[x]) else () for x in output), expr)


def _factor(tensors: Tensors, row: str, value: Value) -> _Factor | None:
    """An operand of a product of integers, if it can be one."""
    build = tensors.build
    form = scaled(build, value.expr)
    if form is None:
        numbers = _along(build, value, value.expr)
        if numbers is None or not np.array_equal(numbers, np.rint(numbers)) or np.abs(numbers).max() > 127:
            return None
        whole = _in_bytes(tensors, value.expr)
        return None if whole is None else _Factor(row, value, Scaled(whole), numbers.astype(np.int64), None)
    if build.stored[form.whole.tensor].kind not in (I8, U8, I16):
        return None
    numbers = _along(build, value, form.whole)
    shift = None if form.shift is None else _along(build, value, form.shift)
    return _Factor(row, value, form, numbers, None if shift is None else np.rint(shift).astype(np.int64))


def _along(build: Build, value: Value, expr: Expr) -> Array | None:
    """The numbers of a constant under the modes of a value: 1 for a mode along which they do not differ."""
    found = known(build, expr, value.indices)
    if found is None:
        return None
    sizes, left = [], list(found.shape)
    for mode in value.modes:
        have, left = left[: len(mode)], left[len(mode) :]
        sizes.append(1 if prod(have) == 1 else build.axes.size(mode))
    whole = [
        build.axes.size([i]) if size > 1 else 1
        for mode, size in zip(value.modes, sizes, strict=True)
        for i in mode
    ]
    return np.broadcast_to(found, whole).reshape(sizes)


def _in_bytes(tensors: Tensors, expr: Expr) -> Access | None:
    """A constant of small whole numbers as i8."""
    build = tensors.build
    if not isinstance(expr, Access):
        return None
    stored = build.stored[expr.tensor]
    if stored.kind == I8:
        return expr
    example = stored.example
    assert example is not None
    own = build.axes.resolved(stored.modes)
    held = example.reshaped([build.axes.size([index]) for index in own])
    held = HostArray(held.shape, held.values.astype(np.int8), held.coords)
    hints = stored.hints if stored.hints.format is None or len(held.shape) == len(example.shape) else None
    if hints is None:
        return None
    key = ("bytes", stored.name, held.shape)
    made = build.input(key, f"{stored.name}_i8", held, lambda _: held, hints, kind=I8, constant=True)
    names = build.axes.resolved(expr.names)
    kept = [name for name, size in zip(names, held.shape, strict=True) if size > 1]
    build.axes.align(kept, made.indices)
    assert isinstance(made.expr, Access)
    return Access.of(made.expr.tensor, kept)


def _most_of_shift(build: Build, expr: Expr | None) -> int | None:
    """A bound of the magnitude of integers that a run decides; None where nobody knows one."""
    match expr:
        case Literal(value):
            return int(abs(value))
        case Access(tensor=tensor) if isinstance(build.stored[tensor].kind, Integer):
            return most_of(build, expr)
        case Neg(operand):
            return _most_of_shift(build, operand)
        case Add(left, right) | Sub(left, right):
            one, other = _most_of_shift(build, left), _most_of_shift(build, right)
            return None if one is None or other is None else one + other
    return None


@dataclass
class _Product:
    """A sum of products of integers over all letters that the output lacks."""

    tensors: Tensors
    output: str
    factors: Sequence[_Factor]

    def __post_init__(self) -> None:
        self.build = self.tensors.build
        self.sizes = {
            letter: self.build.axes.size(mode)
            for factor in self.factors
            for letter, mode in zip(factor.row, factor.value.modes, strict=True)
            if self.build.axes.size(mode) > 1
        }
        self.gone = {letter for letter in self.sizes if letter not in self.output}

    @property
    def fits(self) -> bool:
        """Whether scales and what runs decide of shifts are the same along what is summed, and sums within
        i32 whatever the data."""
        for factor in self.factors:
            gone = _gone(factor.row, factor.value, self.output)
            of_run = any(other.numbers is None for other in self.factors if other is not factor)
            varies = [factor.form.scale, factor.form.shift if of_run or factor.shift is None else None]
            if any(gone & set(free_indices(expr)) for expr in varies if expr is not None):
                return False
        return self.bound is not None

    @cached_property
    def bound(self) -> int | None:
        """How great a sum can be, and each part of it; None beyond i32."""
        data, arrays = 1, []
        for factor in self.factors:
            added = factor.shift
            if factor.is_shifted and added is None:
                most = _most_of_shift(self.build, factor.form.shift)
                added = None if most is None else np.asarray(most)
                if added is None:
                    return None
            added = np.abs(np.zeros((), np.int64) if added is None else added)
            if factor.numbers is None:
                data *= most_of(self.build, factor.form.whole) + int(added.max())
            else:
                arrays.append(np.abs(factor.numbers) + added)
        most = data * int(self.summed(arrays, self.known_rows).max())
        parts = 1 if sum(factor.is_shifted for factor in self.factors) < 2 else 4
        return most if most * parts <= I32.greatest else None

    @property
    def known_rows(self) -> list[str]:
        return [factor.row for factor in self.factors if factor.numbers is not None]

    def summed(self, arrays: Sequence[Array], rows: Sequence[str]) -> Array:
        """The sums of products of integers, with a dimension for each letter of the output: 1 for one along
        which they are the same."""
        given, left = [], []
        for array, row in zip(arrays, rows, strict=True):
            kept = [place for place, size in enumerate(array.shape) if size > 1]
            given.append(array.reshape([array.shape[place] for place in kept]).astype(np.int64))
            left.append("".join(row[place] for place in kept))
        have = "".join(left)
        out = "".join(letter for letter in self.output if letter in have)
        made = (
            np.einsum(f"{','.join(left)}->{out}", *given, optimize="greedy")
            if given
            else np.ones((), np.int64)
        )
        made = made * prod(self.sizes[letter] for letter in self.gone if letter not in have)
        return made.reshape([made.shape[out.index(letter)] if letter in out else 1 for letter in self.output])

    def made(self) -> Value:
        """The product."""
        build = self.build
        total = self.product(self.factors, self.kind)
        shifted = [factor for factor in self.factors if factor.is_shifted]
        constant: Array = np.zeros((1,) * len(self.output), np.int64)
        others: list[Value] = []
        for count in range(1, len(shifted) + 1):
            for chosen in combinations(shifted, count):
                if (found := self.corrected(chosen)) is None:
                    others.append(self.correction(chosen))
                else:
                    constant = constant + found
        operations = Operations(build, self.tensors)
        if constant.any():
            others.append(self.held(constant))
        scales = [
            _under(factor.row, factor.value, factor.form.scale, self.output)
            for factor in self.factors
            if factor.form.scale is not None
        ]

        is_real = any(factor.form.is_real for factor in self.factors)

        def real(whole: Expr, *more: Expr) -> Expr:
            added = list(more[: len(others)])
            sums: Expr = reduce(lambda a, b: a + b, added, whole)
            return _times(to(REAL, sums) if is_real else sums, more[len(others) :])

        return operations.elementwise(real, total, *others, *scales)

    @property
    def kind(self) -> Integer:
        """The type of the sums: that of the data where constants only pick them."""
        data = [factor for factor in self.factors if factor.numbers is None]
        picks = [factor for factor in self.factors if factor.numbers is not None]
        if len(data) != 1 or not picks or any(factor.form.scale is not None for factor in picks):
            return I32
        sums = self.summed([np.abs(f.numbers) for f in picks if f.numbers is not None], self.known_rows)
        own = self.build.stored[data[0].form.whole.tensor].kind
        return next((kind for kind in (I8, U8) if kind == own and sums.max() <= 1), I32)

    def product(self, factors: Sequence[_Factor], kind: Integer) -> Value:
        """The sums of products of the integers as they are stored, as a tensor."""
        build = self.build
        rows = ",".join(factor.row for factor in factors)
        wholes = [replace(factor.value, expr=factor.form.whole) for factor in factors]
        out = "".join(letter for letter in self.output if letter in rows)
        made = build.resolve(summed(self.tensors, f"{rows}->{out}", *wholes, kind=kind))
        if not isinstance(made.expr, Access):
            lhs = [index for index in made.indices if index in free_indices(made.expr)]
            made = replace(made, expr=build.statement(lhs, made.expr, kind=kind))
        assert isinstance(made.expr, Access)
        build.stored[made.expr.tensor].most = self.bound if kind == I32 else None
        missing = self.gone & {x for factor in self.factors for x in factor.row} - set(rows)
        if missing:
            made = replace(made, expr=made.expr * Literal(prod(self.sizes[x] for x in missing)))
        modes = iter(made.modes)
        return replace(made, modes=tuple(next(modes) if letter in out else () for letter in self.output))

    def sums_of(self, factors: Sequence[_Factor]) -> Value:
        """The sums of products of the integers of some factors; of constants a constant."""
        arrays = [factor.numbers for factor in factors if factor.numbers is not None]
        if len(arrays) < len(factors):
            return self.product(factors, I32)
        return self.held(self.summed(arrays, [factor.row for factor in factors]))

    def held(self, numbers: Array) -> Value:
        """Integers with a dimension for each letter of the output as a constant."""
        modes = tuple((self.build.axes.index(n),) if n > 1 else () for n in numbers.shape)
        flat = numbers.reshape([n for n in numbers.shape if n > 1])
        indices = [i for mode in modes for i in mode]
        return Value(modes, as_constant(self.build, flat, indices, f"{self.build.result_name}_shift"))

    def corrected(self, chosen: Sequence[_Factor]) -> Array | None:
        """The sums where what is added to some factors stands in their place; None if a run decides them."""
        arrays = [factor.shift if factor in chosen else factor.numbers for factor in self.factors]
        if any(array is None for array in arrays):
            return None
        return self.summed([a for a in arrays if a is not None], [factor.row for factor in self.factors])

    def correction(self, chosen: Sequence[_Factor]) -> Value:
        """The same as hardware computes it: shifts that are the same along what is summed, times the sums of
        the rest."""
        build = self.build
        rest = [factor for factor in self.factors if not any(factor is one for one in chosen)]
        made = self.sums_of(rest) if rest else None
        shifts = []
        for factor in chosen:
            assert factor.form.shift is not None
            shifts.append(_under(factor.row, factor.value, factor.form.shift, self.output))
        operations = Operations(build, self.tensors)
        size = Literal(prod(self.sizes[letter] for letter in self.gone) if made is None else 1)
        given = shifts if made is None else [made, *shifts]
        return operations.elementwise(lambda e, *more: _times(e, [*more, size]), *given)


def _times(expr: Expr, factors: Sequence[Expr]) -> Expr:
    """A product, in which numbers are one."""
    number = prod((factor.value for factor in factors if isinstance(factor, Literal)), start=1.0)
    for factor in factors:
        if not isinstance(factor, Literal):
            expr = expr * factor
    if number == int(number):
        number = int(number)
    return expr if number == 1 else expr * Literal(number)
