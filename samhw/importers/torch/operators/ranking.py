"""Operators that order elements by their values: the best ones of a row are kept, in order."""

from dataclasses import replace

from samhw.importers.core import GREATEST_MASKED, UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.reductions import RowAlong, row_along
from samhw.importers.torch.registry import Results, operator
from samhw.lang import MOST_RANKS
from samhw.lang.functions import lt, select

__all__: list[str] = []


@operator("topk", masked=True)
def import_topk(
    importer: Importer, x: Operand, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Results:
    return _in_order(importer, x, k, dim, largest)


@operator("nanmedian", "mode")
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
