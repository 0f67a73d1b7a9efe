"""Operators that order elements by their values: the best ones are taken from a row one after another."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import torch

from samhw.frontend.functions import eq
from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.reductions import RowAlong, row_along
from samhw.importers.torch.registry import Results, operator
from samhw.importers.torch.value import Known

__all__: list[str] = []

_MOST_PASSES = 16
"""Elements that are taken from a row, each in a pass of its own."""

_Taken = Sequence[tuple[Value, Value]]
"""Of each pass the values and their places, without the dimension."""


@operator("topk", places=True)
def import_topk(
    importer: Importer, x: Operand, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Results:
    return _stacked(importer, _taken(importer, x, k, dim, largest), dim)


@operator("sort", "argsort", places=True)
def import_sort(
    importer: Importer, x: Operand, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> Results:
    shape = importer.shape(x)
    values, places = _stacked(importer, _taken(importer, x, shape[dim], dim, descending), dim)
    return places if importer.operator == "aten.argsort" else (values, places)


@operator("msort", places=True)
def import_msort(importer: Importer, x: Operand) -> Value:
    return _stacked(importer, _taken(importer, x, importer.shape(x)[0], 0, False), 0)[0]


@operator("kthvalue", places=True)
def import_kthvalue(importer: Importer, x: Operand, k: int, dim: int = -1, keepdim: bool = False) -> Results:
    *_, found = _taken(importer, x, k, dim, False)
    return _stacked(importer, [found], dim) if keepdim else found


@operator("median", places=True)
def import_median(importer: Importer, x: Operand, dim: int | None = None, keepdim: bool = False) -> Results:
    """The lower one of two in the middle, of a dimension or of all elements."""
    shape = importer.shape(x)
    if dim is None:
        row = importer.call("reshape", importer.materialized(x), [-1])
        assert isinstance(row, Value)
        *_, (value, _) = _taken(importer, row, (prod(shape) + 1) // 2, 0, False)
        return value
    return import_kthvalue(importer, x, (shape[dim] + 1) // 2, dim, keepdim)


@operator("nanmedian", "mode", places=True)
def refuse_order(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError(
        "counts elements by their values, for which there is no hardware yet",
        "return the values and do this after the run, or give the places as an argument",
    )


def _taken(importer: Importer, x: Operand, count: int, dim: int, largest: bool) -> _Taken:
    """The best elements along a dimension, the best one first, and of equal ones the first. Each is the
    extreme of what a mask has left of the row, and leaves the mask."""
    if count > _MOST_PASSES:
        raise UnsupportedError(
            f"takes {count} elements of a row in order, and the hardware goes through the row for each",
            f"take at most {_MOST_PASSES}, or return the values and do this after the run",
        )
    row = row_along(importer, importer.value(x), dim)
    kind = "max" if largest else "min"
    found = []
    left: Value | None = None
    for number in range(count):
        value, place = row.reduced(kind, left), row.reduced(f"arg{kind}", left)
        found.append((value, place))
        if number < count - 1:
            left = _without(importer, row, left, place)
    return found


def _without(importer: Importer, row: RowAlong, left: Value | None, place: Value) -> Value:
    """The mask of what is left behind a place; it is what is left so far, or all."""
    size = importer.build.shape(row.held)[row.dim]
    places = importer.value(Known(torch.arange(size).float(), f"places_{size}"))
    along = replace(places, modes=(*places.modes, *[()] * (len(row.held.modes) - row.dim - 1)))
    taken = replace(place, modes=(*place.modes[: row.dim], (), *place.modes[row.dim :]))
    if left is None:
        made = importer.elementwise(lambda _, p, t: 1 - eq(p, t), row.held, along, taken)
    else:
        made = importer.elementwise(lambda m, p, t: m * (1 - eq(p, t)), left, along, taken)
    return importer.materialized(made)


def _stacked(importer: Importer, taken: _Taken, dim: int) -> list[Value]:
    """Values and places, with the dimension."""
    found = []
    for parts in zip(*taken, strict=True):
        made = importer.call("stack", parts, dim)
        assert isinstance(made, Value)
        found.append(made)
    return found


@operator("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def refuse_sampling(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError(
        "reads at places that are computed, for which there is no hardware yet",
        "sample before, and give the samples as an argument",
    )
