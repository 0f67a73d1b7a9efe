"""Operators that reduce some modes, that go through a row of elements, or put some of these in order."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

from samhw.importers.core import GREATEST_MASKED, UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Ints, Operand
from samhw.importers.torch.registry import Results, operator
from samhw.lang import COORDINATES, MOST_RANKS
from samhw.lang.expr import Literal, RunningReduction
from samhw.lang.functions import eq, exp, lt, select
from samhw.lang.traverse import free_indices

__all__: list[str] = []


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


def import_reduction(
    kind: str, importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False, **_: object
) -> Value:
    held = importer.value(x)
    if kind == "prod":
        # What is the same all along a dimension is a factor as often.
        held = importer.tensors.expanded(importer.materialized(held))
    return reduced(importer, held, dim, keepdim, kind)


for _name, _kind in (("sum", "sum"), ("amax", "max"), ("amin", "min"), ("prod", "prod")):
    operator(_name, masked=_name == "amax")(partial(import_reduction, _kind))


@operator("mean")
def import_mean(
    importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False, **_: object
) -> Value:
    """A sum times a number; one statement."""
    held = importer.tensors.as_product(importer.value(x))
    shape = importer.build.shape(held)
    dims = range(len(shape)) if dim in (None, []) else [dim] if isinstance(dim, int) else dim
    share = 1 / math.prod(shape[n] for n in dims or ())
    return reduced(importer, importer.elementwise(lambda e: e * share, held), dim, keepdim)


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
    """exp(x - max x) by its sum; where there is a mask, over its points only."""
    build = importer.build
    held = build.resolve(importer.tensors.expanded(importer.value(x), [dim]))
    mask = held.mask
    if mask is not None:
        held = importer.tensors.expanded_over(held, mask.names)
        scores = importer.tensors.materialized(Value(held.modes, held.expr), label="scores", mask=mask)
        held, mask = build.resolve(scores), build.resolve_access(mask)
    held, access = importer.tensors.as_tensor(held)
    dim %= len(held.modes)
    removed = held.modes[dim]
    lhs, name = [i for i in access.names if i not in removed], build.result_name
    most = build.statement(lhs, access, reduction="max", mask=mask, label=f"{name}_max")
    above = build.statement(access.names, exp(access - most), mask=mask, label=f"{name}_exp")
    sums = build.statement(lhs, above, label=f"{name}_sum")
    build.hint_order(access, [*lhs, *(i for i in access.names if i in removed)])
    modes = tuple(() if n == dim else mode for n, mode in enumerate(held.modes))
    found = importer.elementwise(lambda e, s: e / s, Value(held.modes, above), Value(modes, sums))
    return importer.materialized(found)


# Along a row


def row_along(importer: Importer, x: Operand, dim: int) -> tuple[Value, int]:
    """A tensor of its own, with one index along a mode that no view splits any more, or with none."""
    build, tensors = importer.build, importer.tensors
    held = build.resolve(tensors.expanded(importer.materialized(x)))
    if not held.modes:
        return held, 0
    dim %= len(held.modes)
    if len(held.modes[dim]) > 1:
        held = tensors.reshaped(held)
    held, _ = tensors.as_tensor(held)
    build.axes.fix(held.modes[dim])
    return held, dim


def in_row(importer: Importer, held: Value, dim: int, kind: str, count: int = 1) -> Value:
    """What `kind` makes of such a mode, which stays: of one element, or of this many in order."""
    build = importer.build
    held = build.resolve(held)
    if not held.modes[dim]:
        return importer.elementwise(lambda e: e * 0, held) if kind in COORDINATES else held
    held, access = importer.tensors.as_tensor(held)
    rank = (build.axes.index(count),) if count > 1 else ()
    modes = (*held.modes[:dim], rank, *held.modes[dim + 1 :])
    return Value(modes, build.statement([i for mode in modes for i in mode], access, reduction=kind))


def _filled(importer: Importer, x: Value) -> Value:
    """A value with a number for -inf that is less than all others."""
    if x.mask is None:
        return x
    return importer.elementwise(lambda e, c: select(c, e, 2 * GREATEST_MASKED), *importer.masks.apart(x))


@operator("argmax", "argmin", masked=True)
def import_argmax(importer: Importer, x: Operand, dim: int | None = None, keepdim: bool = False) -> Value:
    """The coordinates of the first ones, along a dimension, or in the row of all elements."""
    held = importer.materialized(_filled(importer, importer.value(x)))
    rank = len(held.modes)
    if not rank:
        return Value((), Literal(0))
    held = importer.views.view(held, [-1]) if dim is None else held
    found = in_row(importer, *row_along(importer, held, dim or 0), importer.operator.removeprefix("aten."))
    if keepdim:
        return replace(found, modes=((),) * rank) if dim is None else found
    dim = (dim or 0) % len(found.modes)
    return replace(found, modes=(*found.modes[:dim], *found.modes[dim + 1 :]))


@operator("topk", masked=True)
def import_topk(
    importer: Importer, x: Operand, count: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Results:
    """The best elements along a dimension and their places, the best one first, and of equal ones the
    first. What is -inf is less than all others, and -inf again among the best."""
    if count > MOST_RANKS:
        raise UnsupportedError(
            f"takes {count} elements of a row in order, and the hardware keeps {MOST_RANKS}",
            f"take at most {MOST_RANKS}, or return the values and do this after the run",
        )
    held = importer.value(x)
    if held.mask is not None:
        found: Any = import_topk(importer, _filled(importer, held), count, dim, largest)
        values, places = found
        finite = importer.elementwise(lambda e: lt(GREATEST_MASKED, e), values, condition=True)
        return importer.masks.masked(values, finite), places
    row, dim = row_along(importer, held, dim)
    if not row.modes:
        raise UnsupportedError("orders a single number", "leave it out")
    kind = ("top" if largest else "bottom") if count > 1 else "max" if largest else "min"
    return [in_row(importer, row, dim, each, count) for each in (kind, f"arg{kind}")]


@operator("nanmedian", "mode")
def refuse_order(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError(
        "counts elements by their values, for which there is no hardware yet",
        "return the values and do this after the run, or give the places as an argument",
    )


# Of all elements along a dimension up to each


def import_running(kind: str, importer: Importer, x: Operand, dim: int, **_: object) -> Value:
    held, dim = row_along(importer, x, dim)
    if not held.modes or not held.modes[dim]:
        return held
    held, access = importer.tensors.as_tensor(held)
    (index,) = held.modes[dim]
    return Value(held.modes, importer.build.statement(access.names, RunningReduction(kind, index, access)))


for _name, _kind in (("cumsum", "sum"), ("cumprod", "prod")):
    operator(_name)(partial(import_running, _kind))


@operator("cummax", "cummin")
def import_cummax(importer: Importer, x: Operand, dim: int) -> tuple[Value, UnsupportedError]:
    """The values; nobody has asked for their places."""
    return import_running(importer.operator[-3:], importer, x, dim), importer.places_of_extremes
