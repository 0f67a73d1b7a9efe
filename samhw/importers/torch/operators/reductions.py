"""Operators that sum products, that reduce some modes, that go through a row, or put some of it in order."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from samhw.importers.core import GREATEST_MASKED, UnsupportedError, Value, contract, letters
from samhw.importers.core.operators import einsum, matmul
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Ints, Operand
from samhw.importers.torch.registry import Results, operator
from samhw.lang import MOST_RANKS
from samhw.lang.expr import Literal
from samhw.lang.functions import eq, lt, select

__all__ = ["import_matmul"]


def import_reduction(
    kind: str, importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False, **_: object
) -> Value:
    held = importer.value(x)
    if kind == "prod":
        # What is the same all along a dimension is a factor as often.
        held = importer.tensors.expanded(importer.materialized(held))
    return importer.reductions.reduced(held, dim, keepdim, kind)


for _name, _kind in (("sum", "sum"), ("amax", "max"), ("amin", "min"), ("prod", "prod")):
    operator(_name, masked=_name == "amax")(partial(import_reduction, _kind))


@operator("mean")
def import_mean(
    importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False, **_: object
) -> Value:
    return importer.reductions.mean(importer.value(x), dim, keepdim)


@operator("any", "all")
def import_any(importer: Importer, x: Operand, dim: Ints | None = None, keepdim: bool = False) -> Value:
    """The greatest or the least of conditions, or of what is not 0."""
    made = importer.value(x)
    if not made.condition:
        made = importer.elementwise(lambda e: 1 - eq(e, 0), made)
    kind = "max" if importer.operator == "aten.any" else "min"
    return replace(importer.reductions.reduced(made, dim, keepdim, kind), condition=True)


@operator("softmax", "_softmax", "_safe_softmax", masked=True)
def import_softmax(importer: Importer, x: Operand, dim: int, *_: object, **__: object) -> Value:
    return importer.reductions.softmax(importer.value(x), dim)


# Along a row


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
    row = importer.reductions.row_along(held, dim or 0)
    found = importer.reductions.in_row(*row, importer.operator.removeprefix("aten."))
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
    row, dim = importer.reductions.row_along(held, dim)
    if not row.modes:
        raise UnsupportedError("orders a single number", "leave it out")
    kind = ("top" if largest else "bottom") if count > 1 else "max" if largest else "min"
    return [importer.reductions.in_row(row, dim, each, count) for each in (kind, f"arg{kind}")]


@operator("nanmedian", "mode")
def refuse_order(*_: object, **__: object) -> UnsupportedError:
    raise UnsupportedError(
        "counts elements by their values, for which there is no hardware yet",
        "return the values and do this after the run, or give the places as an argument",
    )


# Of all elements along a dimension up to each


def import_running(kind: str, importer: Importer, x: Operand, dim: int, **_: object) -> Value:
    return importer.reductions.running(kind, importer.materialized(x), dim)


for _name, _kind in (("cumsum", "sum"), ("cumprod", "prod")):
    operator(_name)(partial(import_running, _kind))


@operator("cummax", "cummin")
def import_cummax(importer: Importer, x: Operand, dim: int) -> tuple[Value, UnsupportedError]:
    """The values; nobody has asked for their places."""
    return import_running(importer.operator[-3:], importer, x, dim), importer.places_of_extremes


@operator("linear")
def import_linear(importer: Importer, x: Operand, weight: Operand, bias: Operand | None = None) -> Value:
    x = importer.value(x)
    places = letters(len(x.modes) - 1, "A")
    made = contract(importer.tensors, f"{places}i,oi->{places}o", x, importer.value(weight))
    return made if bias is None else importer.add_to_sum(made, bias)


@operator("matmul", "mm", "bmm", "_sparse_mm", "mv")
def import_matmul(importer: Importer, a: Operand, b: Operand, *_: object) -> Value:
    return matmul(importer.tensors, importer.value(a), importer.value(b))


@operator("addmm", "_sparse_addmm", "baddbmm", "addmv")
def import_addmm(
    importer: Importer, c: Operand, a: Operand, b: Operand, *, beta: float = 1, alpha: float = 1
) -> Value:
    made = import_matmul(importer, a, b)
    if alpha != 1:
        made = importer.elementwise(lambda x: x * alpha, made)
    return made if beta == 0 else importer.add_to_sum(made, c, beta)


@operator("einsum")
def import_einsum(importer: Importer, equation: str, operands: Sequence[Operand], **_: object) -> Value:
    def diagonal(x: Value, one: int, other: int) -> Value:
        found: Value = importer.call("diagonal", x, 0, one, other)
        return found

    return einsum(importer.tensors, equation, list(map(importer.value, operands)), diagonal)


@operator("bilinear")
def import_bilinear(
    importer: Importer, a: Operand, b: Operand, weight: Operand, bias: Operand | None = None
) -> Value:
    a = importer.value(a)
    places = letters(len(a.modes) - 1, "A")
    first = contract(importer.tensors, f"{places}i,oij->{places}oj", a, importer.value(weight))
    made = contract(importer.tensors, f"{places}oj,{places}j->{places}o", first, importer.value(b))
    return made if bias is None else importer.add_to_sum(made, bias)
