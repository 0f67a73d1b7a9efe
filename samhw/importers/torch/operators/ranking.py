"""Operators that order elements by their values: the best ones of a row are kept, in order."""

from dataclasses import replace
from math import prod

from samhw.importers.core import GREATEST_MASKED, UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.reductions import RowAlong, reduced, row_along
from samhw.importers.torch.registry import Results, operator
from samhw.lang import MOST_RANKS
from samhw.lang.functions import le, lt, select

__all__: list[str] = []


@operator("topk", masked=True, places=True)
def import_topk(
    importer: Importer, x: Operand, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Results:
    return _in_order(importer, x, k, dim, largest)


@operator("sort", "argsort", masked=True, places=True)
def import_sort(
    importer: Importer, x: Operand, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> Results:
    shape = importer.shape(x)
    values, places = _in_order(importer, x, shape[dim], dim, descending)
    return places if importer.operator == "aten.argsort" else (values, places)


@operator("kthvalue", places=True)
def import_kthvalue(importer: Importer, x: Operand, k: int, dim: int = -1, keepdim: bool = False) -> Results:
    return _one(importer, x, k, dim, keepdim)


@operator("median", places=True)
def import_median(importer: Importer, x: Operand, dim: int | None = None, keepdim: bool = False) -> Results:
    """The lower one of two in the middle, of a dimension or of all elements."""
    shape = importer.shape(x)
    if dim is None:
        row = importer.views.view(importer.materialized(x), [-1])
        return _one(importer, row, (prod(shape) + 1) // 2, 0, False)[0]
    return _one(importer, x, (shape[dim] + 1) // 2, dim, keepdim)


@operator("nanmedian", "mode", places=True)
def refuse_order(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError(
        "counts elements by their values, for which there is no hardware yet",
        "return the values and do this after the run, or give the places as an argument",
    )


def _in_order(importer: Importer, x: Operand, count: int, dim: int, largest: bool) -> tuple[Value, Value]:
    """The best elements along a dimension and their places, the best one first, and of equal ones the
    first. What is -inf is less than all others, and -inf again among the best."""
    if count > MOST_RANKS:
        raise UnsupportedError(
            f"takes {count} elements of a row in order, and the hardware keeps {MOST_RANKS}",
            f"take at most {MOST_RANKS}, or return the values and do this after the run",
        )
    x = importer.value(x)
    if x.mask is not None:
        held, shown = importer.masks.apart(x)
        filled = importer.elementwise(lambda e, c: select(c, e, 2 * GREATEST_MASKED), held, shown)
        values, places = _in_order(importer, filled, count, dim, largest)
        finite = importer.elementwise(lambda e: lt(GREATEST_MASKED, e), values, condition=True)
        return importer.masks.masked(values, finite), places
    row = row_along(importer, x, dim)
    if count > 1:
        kind = "top" if largest else "bottom"
        return row.ranked(kind, count), row.ranked(f"arg{kind}", count)
    kind = "max" if largest else "min"
    return _shown(row, row.reduced(kind)), _shown(row, row.reduced(f"arg{kind}"))


def _shown(row: RowAlong, found: Value) -> Value:
    """What the mode of a row was reduced to, with the mode."""
    return replace(found, modes=(*found.modes[: row.dim], (), *found.modes[row.dim :]))


def _one(importer: Importer, x: Operand, k: int, dim: int, keepdim: bool) -> list[Value]:
    """The k-th least element along a dimension, counted from 1, and its place."""
    found = []
    for ordered in _in_order(importer, x, k, dim, False):
        one = importer.call("slice", ordered, dim, k - 1, k)
        one = one if keepdim else importer.call("squeeze", one, dim)
        found.append(one)
    return found


@operator("bucketize", places=True)
def import_bucketize(
    importer: Importer, x: Operand, bounds: Operand, *, right: bool = False, **_: object
) -> Value:
    return _bins(importer, importer.value(x), importer.value(bounds), right)


@operator("searchsorted", places=True)
def import_searchsorted(
    importer: Importer,
    bounds: Operand,
    x: Operand,
    *,
    right: bool = False,
    side: str | None = None,
    sorter: Operand | None = None,
    **_: object,
) -> Value:
    if sorter is not None:
        raise UnsupportedError("takes bounds in another order", "give them in order")
    held, rows = importer.value(x), importer.value(bounds)
    if len(rows.modes) > 1:
        # Each row of numbers has its own bounds.
        rows = replace(rows, modes=(*rows.modes[:-1], (), rows.modes[-1]))
    return _bins(importer, held, rows, right or side == "right")


def _bins(importer: Importer, x: Value, bounds: Value, right: bool) -> Value:
    """How many of the bounds, which are in order, lie below each number; with `right` also those at it."""
    numbers = replace(x, modes=(*x.modes, ()))
    below = importer.elementwise(le if right else lt, importer.materialized(bounds), numbers)
    return reduced(importer, below, -1)
