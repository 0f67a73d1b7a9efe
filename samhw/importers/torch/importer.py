"""What importers of operators work with: values, constants and what the host works out, under one roof."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import torch

from samhw.errors import InputError
from samhw.frontend.expr import Access, Add, Expr, Literal, Mul, Reshape, accesses, free_indices
from samhw.frontend.functions import eq
from samhw.importers.core import (
    GREATEST_MASKED,
    MOST_JOINED,
    Arguments,
    AxisConflict,
    Build,
    HostArray,
    Piece,
    UnsupportedError,
    Value,
)
from samhw.importers.torch import host
from samhw.importers.torch.registry import OPERATORS
from samhw.importers.torch.value import Host, Known, TensorFetch

__all__ = ["Importer"]

Tensor = Any
"""Of PyTorch."""

Operand = Value | Known | Host | int | float
Indices = tuple[str, ...]

LARGEST_EXPRESSION = 24
"""Nodes of an expression that is not yet a statement."""

_FACTORS = (Access, Literal, Mul)

_COMPUTED = ("takes indices that the module computes", "give it indices that are inputs")
"""What is refused of index tensors, and the way out."""


@dataclass
class Importer:
    """Importers of operators get this first, and the operator's arguments behind it.

    A tensor is a `Value` that the hardware computes, a `Known` or a `Host`; `value` makes a `Value` of
    any.
    """

    build: Build
    sparsify: float | None = None
    operator: str = ""
    """The name of the operator at hand."""

    def missing(self, what: str, way_out: str) -> UnsupportedError:
        """A result that is not there, but may be asked for."""
        return UnsupportedError(f"gives {what}, which is not there", way_out)

    def first_of_three(self, x: Value) -> tuple[Any, Any, Any]:
        """A normalisation with the statistics that training would keep."""
        statistics = self.missing("the statistics of training", "use the normalised tensor")
        return x, statistics, statistics

    # Inputs

    def input(
        self, key: object, wish: str, example: Tensor, fetch: TensorFetch, format: str | None = None
    ) -> Value:
        """An input, made once for each key, of a tensor in any layout."""

        def fetch_array(arguments: Arguments) -> HostArray:
            return host.array_of(fetch(arguments))

        return self.build.input(key, wish, host.array_of(example), fetch_array, format)

    def constant(self, held: Tensor, wish: str, format: str | None = None) -> Value:
        """An input that has the same data in every run."""
        return self.build.constant(host.array_of(held), wish, format)

    # Operands as values

    def value(self, x: Operand) -> Value:
        """Any operand as a value."""
        match x:
            case Value():
                return self.build.resolve(x)
            case Known():
                return self._of_constant(x)
            case Host():
                held = host.as_numbers(x)
                return self.input(("host", x.key), x.name, held.example, held.fetch)
            case int() | float():
                return self.build.literal(float(x))
        if isinstance(x, UnsupportedError):
            raise x
        raise UnsupportedError(f"takes {type(x).__name__}", "give it tensors and numbers")

    def _of_constant(self, x: Known) -> Value:
        if not x.numel():
            raise UnsupportedError(f"takes a tensor without elements, of the shape {x.shape}", "leave it out")
        if x.base is not None:
            source, apply = x.base
            return apply(self, self.value(source))
        if x.held is None and (number := host.uniform(x.dense())) is not None:
            return self.build.literal(number, x.shape)
        held = x.stored()
        numbers = held.float() if not held.is_floating_point() else held
        fmt = host.format_of(numbers, x.annotation, self.sparsify)
        return self.input(("constant", x.key), x.name, numbers, lambda _: numbers, fmt)

    def shape(self, x: Operand) -> list[int]:
        """As PyTorch has it."""
        if isinstance(x, Value):
            return list(self.build.shape(x))
        if isinstance(x, Known):
            return list(x.shape)
        return list(x.example.shape) if isinstance(x, Host) else []

    def simple(self, x: Operand) -> Value:
        """A value that is a tensor or a number by itself, and may be used several times."""
        return self.build.stored_value(self.value(x))

    def factor(self, x: Operand) -> Value:
        """A value that may be a factor of a sum: a tensor, or a product of some."""
        value = self.build.resolve(self.value(x))
        nodes = [value.expr] if not isinstance(value.expr, Mul) else list(_factors(value.expr))
        return value if all(isinstance(node, _FACTORS) for node in nodes) else self.simple(value)

    def together(self, values: Sequence[Value]) -> list[Value]:
        """The values for one statement: each a tensor of its own where they are made of too many to meet in
        one place."""
        if sum(_count(value.expr) for value in values) <= MOST_JOINED:
            return list(values)
        return [self.simple(value) if _count(value.expr) > 1 else value for value in values]

    # Elementwise

    def elementwise(self, make: Callable[..., Any], *operands: Operand, truth: bool = False) -> Value:
        """What `make` makes of the operands' expressions, broadcast as PyTorch does; numbers stay numbers."""
        tensors = [x for x in operands if not _is_finite_number(x)]
        values = self.together([self.value(x) for x in tensors])
        modes, exprs, mask = self.build.broadcast(values)
        found = iter(exprs)
        made = make(*(x if _is_finite_number(x) else next(found) for x in operands))
        nodes = _walk(made)
        for node in nodes:
            if isinstance(node, Literal) and not math.isfinite(node.value):
                raise UnsupportedError(f"has the number {node.value:g}", "use a finite one")
        result = Value(modes, made, mask, truth)
        return self.build.stored_value(result) if len(nodes) > LARGEST_EXPRESSION else result

    def elementwise_named(self, name: str, *operands: Operand) -> Any:
        """By another operator of PyTorch."""
        return OPERATORS[f"aten.{name}"](self, *operands)

    def plus(self, a: Operand, b: Operand, factor: float = 1) -> Value:
        """The sum, the second operand times a number."""
        if isinstance(b, Known) and b.held is None and host.uniform(b.dense()) == 0:
            return self.onto(self.value(a), [max(x, y) for x, y in zip(*self._padded(a, b), strict=True)])
        return self.elementwise(lambda x, y: x + (y if factor == 1 else y * factor), a, b)

    def _padded(self, a: Operand, b: Operand) -> tuple[list[int], list[int]]:
        one, other = self.shape(a), self.shape(b)
        rank = max(len(one), len(other))
        return [1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other

    def scaled(self, x: Value, weight: Any, bias: Any, mode: int | None = None) -> Value:
        """x * weight + bias, along the last modes or a mode."""

        def spread(held: Any) -> Value:
            value = self.value(held)
            trailing = 0 if mode is None else len(x.modes) - mode - 1
            return replace(value, modes=(*value.modes, *[()] * trailing))

        if weight is not None:
            x = self.elementwise(lambda e, w: e * w, x, spread(weight))
        return x if bias is None else self.elementwise(lambda e, b: e + b, x, spread(bias))

    # Truth and masks

    def is_truth(self, x: Operand) -> bool:
        """Whether it has the values of conditions."""
        if isinstance(x, Value):
            return x.truth
        return isinstance(x, Known | Host) and bool(x.example.dtype == torch.bool)

    def truth(self, x: Operand) -> Operand:
        if not self.is_truth(x):
            raise UnsupportedError("goes through the bits of numbers", "use it on conditions, such as x > 0")
        return x

    def negated(self, condition: Operand) -> Operand:
        """The opposite of a condition."""
        if isinstance(condition, Known):
            return Known(~condition.dense().bool(), condition.name)
        if isinstance(condition, Host):
            return host.mapped(condition, lambda tensor: ~tensor.bool())
        return self.elementwise(lambda c: eq(c, 0), condition, truth=True)

    def masked(self, x: Operand, condition: Operand) -> Value:
        """The value where a condition holds, -inf elsewhere."""
        if isinstance(condition, Known | Host):
            condition = self._mask_input(condition)
        if isinstance(condition, Value) and isinstance(condition.expr, Literal):
            if condition.expr.value:
                return self.elementwise(lambda e, _: e, x, condition)
            raise UnsupportedError("masks everything", "leave some points of each row")
        mask = self.simple(condition)
        modes, (expr, access), before = self.build.broadcast([self.value(x), mask])
        assert isinstance(access, Access)
        both = self.build.both_masks([m for m in (before, access) if m is not None])
        return Value(modes, expr, both)

    def _mask_input(self, condition: Known | Host) -> Value:
        """A mask as a sparse input."""
        if isinstance(condition, Known):
            tensor = condition.dense().bool().float()
            if (number := host.uniform(tensor)) is not None:
                return self.build.literal(number, tensor.shape)
            fmt = host.rows_of(tensor)
            return self.input(("mask", condition.key), condition.name, tensor, lambda _: tensor, fmt)
        held = host.mapped(condition, lambda tensor: tensor.bool().float())
        key = ("mask", condition.key)
        return self.input(key, condition.name, held.example, held.fetch, host.rows_of(held.example))

    def unmasked_sum(self, a: Operand, b: Operand) -> tuple[Operand, Operand]:
        """Two summands; where one is a tensor that is -inf at places, the other one under a mask, and the
        rest."""
        for x, other in ((a, b), (b, a)):
            if not isinstance(x, Known | Host) or self.is_truth(x):
                continue
            example = x.example
            if not example.is_floating_point() or not bool((example <= GREATEST_MASKED).any()):
                continue
            keep = _mapped(x, lambda tensor: tensor > GREATEST_MASKED)
            rest = _mapped(x, lambda tensor: torch.where(tensor > GREATEST_MASKED, tensor, 0.0))
            return self.masked(other, keep), rest
        return a, b

    def is_minus_infinity(self, x: Operand) -> bool:
        """Whether it is so small that its exponential is zero beside any other."""
        if isinstance(x, int | float):
            return x <= GREATEST_MASKED
        if isinstance(x, Known) and x.held is None:
            number = host.uniform(x.dense())
            return number is not None and number <= GREATEST_MASKED
        return False

    def refuse_masked(self, *operands: Operand) -> None:
        if any(isinstance(x, Value) and x.mask is not None for x in operands):
            raise UnsupportedError(
                "takes a value that is -inf at places",
                "only softmax and max do; mask right before it",
            )

    # Shapes

    def viewed(self, x: Value, shape: Sequence[int]) -> Value:
        """The elements in another shape; they move only where indices do not split."""
        build = self.build
        x = build.resolve(x)
        have = build.axes.size(x.indices)
        if -1 in shape:
            known = prod(size for size in shape if size != -1)
            shape = [have // known if size == -1 else size for size in shape]
        try:
            modes = build.axes.grouped(x.indices, shape)
        except AxisConflict:
            self.refuse_masked(x)
            _, access = build.tensor(build.in_order(build.whole(x)))
            modes = tuple(() if size == 1 else (build.axes.index(size),) for size in shape)
            lhs = [i for mode in modes for i in mode]
            return Value(modes, build.statement(lhs, Reshape(access)))
        return build.resolve(replace(x, modes=modes))

    def onto(self, x: Operand, sizes: Sequence[int]) -> Value:
        """The value expanded to a shape; -1 keeps a size."""
        value = self.value(x)
        modes = [()] * (len(sizes) - len(value.modes)) + list(value.modes)
        axes = self.build.axes
        spread = [
            (axes.index(size),) if size > 1 and axes.size(mode) == 1 else mode
            for mode, size in zip(modes, sizes, strict=True)
        ]
        return replace(value, modes=tuple(spread))

    def repeated(self, x: Value, dim: int, times: int) -> Value:
        """Each element of a mode several times in a row."""
        modes = list(x.modes)
        modes[dim] = (*modes[dim], self.build.axes.index(times)) if times > 1 else modes[dim]
        return replace(x, modes=tuple(modes))

    def cut(self, x: Value, dim: int, start: int, length: int, step: int = 1) -> Value:
        """Some of a mode's elements: of the data where those are inputs, else by a product that picks
        them."""
        build = self.build
        x = build.resolve(x)
        dim %= len(x.modes)
        mode = x.modes[dim]
        size = build.axes.size(mode)
        step = step if length > 1 else 1
        if (start, length, step) == (0, size, 1):
            return x
        free = set(free_indices(x.expr)) | set(x.mask.indices if x.mask else ())
        if not set(mode) & free:
            return self._with_mode(x, dim, (build.axes.index(length),) if length > 1 else ())
        inner = build.axes.size(mode[1:])
        if len(mode) > 1 and step == 1 and start // inner == (start + length - 1) // inner:
            # Within one coordinate of the outer index.
            rest = self._with_mode(x, dim, mode[1:])
            outer = replace(rest, modes=(*rest.modes, mode[:1]))
            outer = self.cut(outer, -1, start // inner, 1)
            rest = replace(outer, modes=outer.modes[:-1])
            return self.cut(rest, dim, start % inner, length)
        if len(mode) > 1 and step == 1 and start % inner == 0 and length % inner == 0:
            first = replace(
                self._with_mode(x, dim, mode[1:]),
                modes=(*x.modes[:dim], mode[1:], *x.modes[dim + 1 :], mode[:1]),
            )
            first = self.cut(first, -1, start // inner, length // inner)
            return self._with_mode(
                replace(first, modes=first.modes[:-1]), dim, (*first.modes[-1], *first.modes[dim])
            )
        if len(mode) == 1 and x.mask is None:
            index = build.axes.index(length) if length > 1 else None
            piece = Piece(build, start, length, step)
            cut = piece.of(x.expr, mode[0], index)
            if cut is not None:
                return self._with_mode(replace(x, expr=cut), dim, () if index is None else (index,))
        self.refuse_masked(x)
        return self.picked(x, dim, list(range(start, start + length * step, step)))

    def _with_mode(self, x: Value, dim: int, mode: Indices) -> Value:
        return replace(x, modes=(*x.modes[:dim], mode, *x.modes[dim + 1 :]))

    def picked(self, x: Value, dim: int, places: Sequence[int]) -> Value:
        """A mode's elements at these places, by a product with a matrix that has a one for each."""
        ids = Known(torch.tensor(list(places)), f"pick_{places[0]}_{len(places)}")
        size = self.build.shape(x)[dim]
        hot = host.one_hot(ids, size)
        matrix = self.constant(hot.example, ids.name, "csr" if len(places) > 1 else "csf")
        return self.by_matrix(x, dim, matrix)

    def by_matrix(self, x: Value, dim: int, matrix: Value) -> Value:
        """The sum along a mode under a matrix, whose other modes take its place."""
        rank = len(x.modes)
        dim %= rank
        own = [chr(ord("a") + n) for n in range(rank)]
        places = "".join(chr(ord("A") + n) for n in range(len(matrix.modes) - 1))
        out = "".join(own[:dim]) + places + "".join(own[dim + 1 :])
        equation = f"{places}{own[dim]},{''.join(own)}->{out}"
        return OPERATORS["aten.einsum"](self, equation, [matrix, x])

    def indices(self, ids: Operand) -> Known | Host:
        """An index tensor; refuses one that the hardware would have to compute."""
        if not isinstance(ids, Known | Host):
            raise UnsupportedError(*_COMPUTED)
        return ids

    def one_hot(self, ids: Operand, size: int, *, by_place: bool = False) -> Value:
        """A matrix with a one in each row, at the place that an index tensor names; or its transpose."""
        if self.is_truth(ids):
            raise UnsupportedError(*_COMPUTED)
        ids = self.indices(ids)
        hot = host.one_hot(ids, size, by_place=by_place)
        key = ("hot", ids.key, size, by_place)
        return self.input(key, f"{ids.name}_hot", hot.example, hot.fetch, host.rows_of(hot.example))

    def one_hot_of(self, ids: Sequence[Operand], sizes: Sequence[int]) -> Value:
        """The same for several index tensors, which name a place together."""
        given = [self.indices(index) for index in ids]
        hot = host.one_hot_of(given, sizes)
        key = ("hots", *(index.key for index in given), *sizes)
        fmt = host.rows_of(hot.example, compressed=len(sizes))
        return self.input(key, f"{given[0].name}_hot", hot.example, hot.fetch, fmt)

    def bags(self, ids: Operand, offsets: Operand, size: int, *, mean: bool) -> Value:
        """A matrix with how often each bag names each row of a table, or with the shares."""
        ids, offsets = self.indices(ids), self.indices(offsets)
        hot = host.bags(ids, offsets, size, mean=mean)
        key = ("bags", ids.key, offsets.key, size, mean)
        return self.input(key, f"{ids.name}_bags", hot.example, hot.fetch, "csr")

    def one_line(self, ids: Operand, dim: int) -> Operand | None:
        """The list of indices that an index tensor repeats along all dimensions but one."""
        ids = self.indices(ids)
        example = ids.example
        others = [d for d in range(example.dim()) if d != dim and example.shape[d] > 1]
        if any(example.stride(d) for d in others):
            return None

        def line(tensor: Tensor) -> Tensor:
            rows = tensor.movedim(dim, 0).reshape(tensor.shape[dim], -1)
            if bool((rows != rows[:, :1]).any()):
                raise InputError(
                    "an index tensor repeats one list of indices in the example arguments, and others now; "
                    "give an example without expand()"
                )
            return rows[:, 0]

        return _mapped(ids, line)

    def unit(self, size: int, place: int) -> Value:
        """A vector with a one at a place."""
        held = torch.zeros(size)
        held[place] = 1
        return self.constant(held, f"unit_{place}", "csf")

    # Orders

    def wish(self, access: Access, order: Sequence[str]) -> None:
        """Asks for an order of a result's storage, unless somebody has."""
        stored = self.build.stored[access.tensor]
        if stored.fetch is None and not stored.wish:
            own = dict(zip(access.indices, self.build.axes.resolved(stored.modes), strict=True))
            stored.wish = tuple(own[index] for index in order)

    def as_computed(self, access: Access) -> Indices:
        """A tensor's indices in the order of what it is computed of: rows before features."""
        build = self.build
        for made in build.statements:
            if made.lhs.tensor == access.tensor:
                names = dict(
                    zip(
                        build.axes.resolved(made.lhs.indices),
                        build.axes.resolved(access.indices),
                        strict=True,
                    )
                )
                first = next(accesses(build.resolved(made.rhs)))
                rest = [index for index in names if index not in first.indices]
                return tuple(names[index] for index in (*first.indices, *rest) if index in names)
        return access.indices

    def with_term(self, x: Value, term: Operand, factor: float = 1) -> Value:
        """A sum of products and another term, in the statement of the sum if nobody has read that."""
        build = self.build
        if (
            not isinstance(x.expr, Access)
            or not build.statements
            or build.statements[-1].lhs.tensor != x.expr.tensor
        ):
            return self.plus(x, term, factor)
        summed = self.plus(x, term, factor)
        made = build.statements[-1]
        plain = made.lhs.tensor == x.expr.tensor and made.mask is None and not build.is_move(made)
        if not plain or not isinstance(summed.expr, Add) or summed.mask is not None:
            return summed
        access, added = summed.expr.left, summed.expr.right
        if not isinstance(access, Access) or access.tensor != x.expr.tensor:
            return summed
        own = dict(
            zip(build.axes.resolved(access.indices), build.axes.resolved(made.lhs.indices), strict=True)
        )
        if not set(free_indices(added)) <= set(own) or _count(made.rhs) + _count(added) > MOST_JOINED:
            return summed
        held = build.renamed(Value((), added), own)
        made.lhs, made.rhs = build.resolved_access(made.lhs), Add(build.resolved(made.rhs), held.expr)
        return replace(summed, expr=access)

    def last(self, access: Access, removed: Sequence[str]) -> Indices:
        """A tensor's own indices with some of them innermost."""
        stored = self.build.stored[access.tensor]
        own = dict(zip(access.indices, self.build.axes.resolved(stored.modes), strict=True))
        order = [i for i in access.indices if i not in removed] + [i for i in access.indices if i in removed]
        return tuple(own[index] for index in order)

    def with_indices(self, x: Value, indices: Sequence[str]) -> Value:
        """The value with an expression that has these indices."""
        modes = [n for n, mode in enumerate(x.modes) if set(mode) & set(indices)]
        return self.build.whole(x, modes)


def _mapped(x: Known | Host, change: Callable[[Tensor], Tensor]) -> Known | Host:
    return Known(change(x.dense()), x.name) if isinstance(x, Known) else host.mapped(x, change)


def _factors(expr: Expr) -> list[Expr]:
    return [
        node for child in expr.children for node in (_factors(child) if isinstance(child, Mul) else [child])
    ]


def _is_finite_number(x: Operand) -> bool:
    return isinstance(x, int | float) and math.isfinite(x)


def _count(expr: Expr) -> int:
    """The tensors that an expression is made of."""
    return len(set(accesses(expr)))


def _walk(expr: Any) -> list[Expr]:
    if not isinstance(expr, Expr):
        return []
    return [expr, *(node for child in expr.children for node in _walk(child))]
