"""Operators that reduce some modes."""

import math
from dataclasses import dataclass, replace

from samhw.importers.core import UnsupportedError, Value, check_unmasked
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Ints, Operand
from samhw.importers.torch.registry import Results, operator
from samhw.lang import COORDINATES
from samhw.lang.expr import Literal, RunningReduction, free_indices
from samhw.lang.functions import eq, exp

__all__ = ["RowAlong", "coordinates", "reduced", "row_along", "total"]


def reduced(
    importer: Importer, x: Value, dims: Ints | None, keepdim: bool = False, kind: str = "sum"
) -> Value:
    """The sum, the greatest or the least along some modes, by default along all. Of a value under a mask only
    the greatest: of its points, and 0 where there are none."""
    build = importer.build
    x = importer.tensors.as_product(x) if kind == "sum" else importer.materialized(x)
    x = build.resolve(x if x.mask is None else importer.tensors.expanded_over(x, x.mask.names))
    rank = len(x.modes)
    chosen = range(rank) if dims is None or dims == [] else ([dims] if isinstance(dims, int) else dims)
    gone = {dim % rank for dim in chosen} if rank else set()
    removed = [i for dim in gone for i in x.modes[dim]]
    free = free_indices(x.expr)
    modes = tuple(mode for dim, mode in enumerate(x.modes) if dim not in gone)
    if keepdim:
        modes = tuple(() if dim in gone else mode for dim, mode in enumerate(x.modes))
    expr = x.expr
    if kind == "sum" and (missing := [i for i in removed if i not in free]):
        expr = expr * Literal(float(build.axes.size(missing)))
    left = x.mask if x.mask is not None and not set(removed) & set(x.mask.names) else None
    if not set(removed) & set(free):
        return Value(modes, expr, left)
    lhs = [i for mode in modes for i in mode if i in free]
    return Value(modes, build.statement(lhs, expr, reduction=kind, mask=x.mask), left)


def count(importer: Importer, x: Value, dims: Ints | None) -> int:
    """How many elements a reduction goes through for each of its results."""
    shape = importer.build.shape(x)
    if dims is None or dims == []:
        return math.prod(shape)
    return math.prod(shape[dim] for dim in ([dims] if isinstance(dims, int) else dims))


def total(importer: Importer, x: Value, dims: Ints | None, keepdim: bool, scale: float) -> Value:
    """A sum times a number; one statement."""
    scaled = importer.elementwise(lambda e: e * scale, importer.tensors.as_product(x))
    return reduced(importer, scaled, dims, keepdim)


@operator("sum")
def import_sum(
    importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False, **_: object
) -> Value:
    return reduced(importer, importer.value(x), dim, keepdim)


@operator("mean")
def import_mean(
    importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False, **_: object
) -> Value:
    x = importer.value(x)
    return total(importer, x, dim, keepdim, 1 / count(importer, x, dim))


@operator("amax", masked=True)
def import_amax(importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False) -> Value:
    return reduced(importer, importer.value(x), dim, keepdim, "max")


@operator("amin")
def import_amin(importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False) -> Value:
    return reduced(importer, importer.value(x), dim, keepdim, "min")


@operator("max", "min", masked=True)
def import_max(importer: Importer, x: Operand, dim: Operand | None = None, keepdim: bool = False) -> Results:
    kind = importer.operator.removeprefix("aten.")
    if kind == "min" or not isinstance(dim, int | None):
        check_unmasked(x, dim)
    if dim is not None and not isinstance(dim, int):
        found: Results = importer.call("maximum" if kind == "max" else "minimum", x, dim)
        return found
    if dim is None:
        return reduced(importer, importer.value(x), dim, keepdim, kind)
    held = importer.value(x)
    if held.mask is not None:
        return reduced(importer, held, dim, keepdim, kind), importer.places_of_extremes
    held = importer.materialized(held)
    return reduced(importer, held, dim, keepdim, kind), coordinates(
        importer, held, dim, keepdim, f"arg{kind}"
    )


@operator("argmax", "argmin")
def import_argmax(importer: Importer, x: Operand, dim: int | None = None, keepdim: bool = False) -> Value:
    """Along a dimension, or in the row of all elements."""
    held = importer.materialized(x)
    rank = len(held.modes)
    if dim is None and rank:
        row = importer.views.view(held, [-1])
        held = row
    kind = importer.operator.removeprefix("aten.")
    found = coordinates(importer, held, 0 if dim is None else dim, keepdim, kind)
    return replace(found, modes=((),) * rank) if dim is None and keepdim else found


def coordinates(importer: Importer, x: Value, dim: int, keepdim: bool, kind: str) -> Value:
    """The coordinates of the first greatest or least elements along a mode: `kind` is argmax or argmin."""
    if not x.modes:
        return Value((), Literal(0))
    row = row_along(importer, x, dim)
    found = row.reduced(kind)
    modes = (*found.modes[: row.dim], (), *found.modes[row.dim :]) if keepdim else found.modes
    return replace(found, modes=modes)


@dataclass(frozen=True)
class RowAlong:
    """A tensor with a mode of one index, or of extent 1, along which it is gone through."""

    importer: Importer
    held: Value
    dim: int

    def reduced(self, kind: str, mask: Value | None = None) -> Value:
        """What `kind` reduces the mode to, where a tensor over the same modes is not zero; without the
        mode."""
        build = self.importer.build
        held = build.resolve(self.held)
        kept = tuple(mode for n, mode in enumerate(held.modes) if n != self.dim)
        if not held.modes[self.dim]:
            zero = self.importer.elementwise(lambda e: e * 0, held)
            return Value(kept, zero.expr if kind in COORDINATES else held.expr)
        _, access = self.importer.tensors.as_tensor(held)
        where = None
        if mask is not None:
            mask = build.resolve(mask)
            mask = build.renamed(mask, dict(zip(mask.indices, held.indices, strict=True)))
            _, where = self.importer.tensors.as_tensor(mask)
        lhs = [index for mode in kept for index in mode]
        return Value(kept, build.statement(lhs, access, reduction=kind, mask=where))

    def ranked(self, kind: str, count: int) -> Value:
        """As many of the best elements of the mode, or their coordinates, as `kind` says (`top` and its kin),
        in order; at least two."""
        build = self.importer.build
        held = build.resolve(self.held)
        _, access = self.importer.tensors.as_tensor(held)
        rank = build.axes.index(count)
        modes = tuple((rank,) if n == self.dim else mode for n, mode in enumerate(held.modes))
        return Value(modes, build.statement([i for mode in modes for i in mode], access, reduction=kind))


def row_along(importer: Importer, x: Value, dim: int) -> RowAlong:
    """A tensor of its own, with one index along a mode that no view splits any more."""
    build, tensors = importer.build, importer.tensors
    held = build.resolve(tensors.expanded(importer.materialized(x)))
    if not held.modes:
        raise UnsupportedError("orders a single number", "leave it out")
    dim %= len(held.modes)
    if len(held.modes[dim]) > 1:
        held = tensors.reshaped(held)
    held, _ = tensors.as_tensor(held)
    build.axes.fix(held.modes[dim])
    return RowAlong(importer, held, dim)


@operator("prod")
def import_prod(
    importer: Importer, x: Operand, dim: int | None = None, keepdim: bool = False, **_: object
) -> Value:
    # What is the same all along a dimension is a factor as often.
    return reduced(importer, importer.tensors.expanded(importer.materialized(x)), dim, keepdim, "prod")


@operator("any", "all")
def import_any(importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False) -> Value:
    """The greatest or the least of conditions, or of what is not 0."""
    made = importer.value(x)
    if not made.condition:
        made = importer.elementwise(lambda e: 1 - eq(e, 0), made)
    kind = "max" if importer.operator == "aten.any" else "min"
    return replace(reduced(importer, made, dim, keepdim, kind), condition=True)


@operator("softmax", "_softmax", "_safe_softmax", masked=True)
def import_softmax(importer: Importer, x: Operand, dim: int, *_: object, **__: object) -> Value:
    return softmax(importer, importer.value(x), dim)


def softmax(importer: Importer, x: Value, dim: int) -> Value:
    """Over the points of a mask, where there is one."""
    exponentials, _, sums = _exponentials(importer, x, dim)
    found = importer.elementwise(lambda e, s: e / s, exponentials, sums)
    return importer.materialized(found)


def _exponentials(importer: Importer, x: Value, dim: int) -> tuple[Value, Value, Value]:
    """exp(x - max x), max x, and the sums along a mode; where there is a mask, over its points only."""
    build = importer.build
    x = build.resolve(importer.tensors.expanded(x, [dim]))
    mask = x.mask
    if mask is not None:
        x = importer.tensors.expanded_over(x, mask.names)
        x = build.resolve(importer.tensors.materialized(Value(x.modes, x.expr), label="scores", mask=mask))
        mask = build.resolve_access(mask)
    x, access = importer.tensors.as_tensor(x)
    dim %= len(x.modes)
    removed = x.modes[dim]
    lhs = [i for i in access.names if i not in removed]
    most = build.statement(lhs, access, reduction="max", mask=mask, label=f"{build.result_name}_max")
    above = build.statement(access.names, exp(access - most), mask=mask, label=f"{build.result_name}_exp")
    sums = build.statement(lhs, above, label=f"{build.result_name}_sum")
    modes = tuple(() if n == dim else mode for n, mode in enumerate(x.modes))
    build.hint_order(access, [*lhs, *(i for i in access.names if i in removed)])
    return Value(x.modes, above), Value(modes, most), Value(modes, sums)


# Of all elements along a dimension up to each


@operator("cumsum")
def import_cumsum(importer: Importer, x: Operand, dim: int, **_: object) -> Value:
    return _running(importer, x, dim, "sum")


@operator("cumprod")
def import_cumprod(importer: Importer, x: Operand, dim: int, **_: object) -> Value:
    return _running(importer, x, dim, "prod")


@operator("cummax", "cummin")
def import_cummax(importer: Importer, x: Operand, dim: int) -> tuple[Value, UnsupportedError]:
    """The values; nobody has asked for their places."""
    found = _running(importer, x, dim, importer.operator[-3:])
    return found, importer.places_of_extremes


def _running(importer: Importer, x: Operand, dim: int, reduction: str) -> Value:
    """A statement along an index that no view splits any more."""
    build, tensors = importer.build, importer.tensors
    held = build.resolve(tensors.expanded(importer.materialized(x)))
    if not held.modes or not held.modes[dim]:
        return held
    if len(held.modes[dim]) > 1:
        held = tensors.reshaped(held)
    held, access = tensors.as_tensor(held)
    (index,) = held.modes[dim]
    build.axes.fix([index])
    return Value(held.modes, build.statement(access.names, RunningReduction(reduction, index, access)))
