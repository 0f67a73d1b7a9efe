"""Operators of this package's own. Index tensors are matrices with a one for each index: the host makes them
of indices that it knows, and those that hardware computes are compared with all places."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

import torch
from torch import Tensor

from samhw.errors import InputError
from samhw.importers.core import Hints, UnsupportedError, Value, contract, letters, rows_of
from samhw.importers.core.operators import linear_weight, nearest_weight, sampled, sampled_place
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.complex_numbers import is_zero
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Host, Known
from samhw.lang.functions import eq, select

__all__ = ["hot"]


@operator("contract", library="samhw")
def import_contract(importer: Importer, equation: str, operands: Sequence[Operand], reduction: str) -> Value:
    """Of a matrix of comparisons, which the program itself computes, the ones alone are gone through."""
    first = operands[0]
    is_compared = isinstance(first, Value) and first.condition
    values = [importer.value(operand) for operand in operands]
    by_first = is_compared or reduction != "sum"
    return contract(importer.tensors, equation, *values, reduction=reduction, by_first=by_first)


@operator("alone", library="samhw")
def import_alone(importer: Importer, x: Operand) -> Operand:
    return importer.materialized(x) if isinstance(x, Value) else x


@operator("stored", library="samhw")
def import_stored(importer: Importer, x: Operand, format: str) -> Operand:
    return replace(x, annotation=format) if isinstance(x, Known | Host) else x


@operator("hot", library="samhw")
def hot(
    importer: Importer,
    ids: Sequence[Operand],
    sizes: Sequence[int],
    order: Sequence[int] = (),
    over: int = 0,
    once: bool = False,
) -> Value:
    """As `own_operators.hot` says it."""
    given = _indices(ids)
    if given is None:
        return _compared(importer, ids, sizes, order, over, once)

    def made(tensors: Sequence[Tensor]) -> Tensor:
        return host.hot(tensors, sizes, order, over, once)

    found = host.of_several(given, made)
    if over:
        hints = Hints(rows_of(found.example.shape, over))
    else:
        rows = found.example.dim() - len(sizes)
        levels = ", ".join([*["dense"] * rows, *["singleton"] * len(sizes)])
        hints = Hints(f"({levels})" if rows else "csf" if len(sizes) > 1 else "dense")
    name = f"{given[0].name}_hot"
    if all(isinstance(index, Known) and index.of_numbers for index in given):
        return importer.constant(found.example, name, hints)
    key = ("hot", *(index.key for index in given), *sizes, *order, over, once)
    constant = all(isinstance(index, Known) for index in given)
    return importer.operands.input(key, name, found.example, found.fetch, hints, constant=constant)


@operator("counts", library="samhw")
def import_counts(
    importer: Importer, ids: Sequence[Operand], sizes: Sequence[int], order: Sequence[int], over: int
) -> Value:
    """How many ones there are along the last dimensions."""
    given = _indices(ids)
    if given is None:
        return _reduced(importer, _compared(importer, ids, sizes, order, over, False), over, "sum")

    def made(tensors: Sequence[Tensor]) -> Tensor:
        ones = host.hot(tensors, sizes, order, over, False)
        return torch.sparse.sum(ones, tuple(range(ones.dim() - over, ones.dim()))).to_dense()

    found = host.of_several(given, made)
    key = ("counts", *(index.key for index in given), *sizes, *order, over)
    return importer.operands.input(key, f"{given[0].name}_counts", found.example, found.fetch)


@operator("line", library="samhw")
def import_line(importer: Importer, ids: Operand, dim: int) -> Operand:
    if isinstance(ids, Value):
        held = importer.build.resolve(ids)
        return replace(held, modes=(held.modes[dim],))
    assert isinstance(ids, Known | Host)

    def line(tensor: Tensor) -> Tensor:
        rows = tensor.movedim(dim, 0).reshape(tensor.shape[dim], -1)
        if bool((rows != rows[:, :1]).any()):
            raise InputError(
                "an index tensor repeats one list of indices in the example arguments, and others now; "
                "give an example without expand()"
            )
        return rows[:, 0]

    return host.mapped(ids, line)


@operator("elsewhere", library="samhw")
def import_elsewhere(importer: Importer, made: Operand, x: Operand, counts: Operand) -> Value:
    if is_zero(x) and isinstance(made, Value):
        return made
    return importer.elementwise(lambda n, old, new: select(eq(n, 0), old, new), counts, x, made)


@operator("embedding")
def import_embedding(importer: Importer, weight: Operand, ids: Operand, *_: object) -> Value:
    table = importer.value(weight)
    ones = hot(importer, [ids], [importer.build.shape(table)[0]])
    places = letters(len(ones.modes) - 1, "A")
    return contract(importer.tensors, f"{places}v,vd->{places}d", ones, table, by_first=ones.condition)


def _indices(ids: Sequence[Operand]) -> list[Known | Host] | None:
    """The index tensors, if none of them is computed by hardware."""
    for index in ids:
        is_condition = index.condition if isinstance(index, Value) else _is_condition(index)
        if is_condition:
            raise UnsupportedError("takes conditions as indices", "give it a tensor of integers")
    known = [index for index in ids if isinstance(index, Known | Host)]
    return known if len(known) == len(ids) else None


def _is_condition(index: Operand) -> bool:
    return isinstance(index, Known | Host) and index.example.dtype == torch.bool


def _compared(
    importer: Importer,
    ids: Sequence[Operand],
    sizes: Sequence[int],
    order: Sequence[int],
    over: int,
    once: bool,
) -> Value:
    """Comparisons with all places."""
    found = importer.named_places(
        [importer.value(index) for index in ids],
        sizes,
        lambda size: importer.value(Known(torch.arange(size).float(), f"places_{size}")),
    )
    made = found if not order else replace(found, modes=tuple(found.modes[dim] for dim in order))
    made = importer.materialized(made)
    return replace(_last_ones(importer, made, over) if once else made, condition=True)


def _last_ones(importer: Importer, made: Value, over: int) -> Value:
    """The last one alone of the ones along the last dimensions: that of the greatest number."""
    shape = importer.shape(made)[len(made.modes) - over :]
    numbers = importer.value(Known(torch.arange(1, prod(shape) + 1).float().reshape(shape), "numbers"))
    ranked = importer.elementwise(lambda h, n: h * n, made, numbers)
    last = _reduced(importer, importer.materialized(ranked), over, "max")
    spread = replace(last, modes=(*last.modes, *[()] * over))
    kept = importer.elementwise(lambda h, n, last: h * eq(n, last), made, numbers, spread)
    return importer.materialized(kept)


def _reduced(importer: Importer, made: Value, over: int, reduction: str) -> Value:
    """The sum or the greatest along the last dimensions."""
    rank = len(made.modes)
    full = importer.tensors.expanded(made, range(rank - over, rank))
    row = letters(rank)
    return contract(importer.tensors, f"{row}->{row[: rank - over]}", full, reduction=reduction)


_WEIGHTS = (linear_weight, nearest_weight)
_AROUND = ("zeros", "border", "reflection")
"""By PyTorch's numbers of interpolations, and of what is around an image."""


@operator("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
def import_grid_sampler(
    importer: Importer, x: Operand, grid: Operand, interpolation: int, padding: int, align_corners: bool
) -> Value:
    """x of batch, channels and 2 or 3 dimensions; the grid holds places from -1 to 1, the last dimension of x
    first."""
    if interpolation >= len(_WEIGHTS):
        raise UnsupportedError("samples between 4 elements", "sample linearly, or the nearest element")
    sizes = importer.shape(x)[2:]
    places = importer.materialized(grid)
    weights = []
    for dim, size in enumerate(sizes):
        place = importer.call("select", places, -1, len(sizes) - 1 - dim)
        inside = partial(sampled_place, size=size, around=_AROUND[padding], align_corners=align_corners)
        kept = importer.materialized(importer.elementwise(inside, place))
        spread = importer.call("unsqueeze", kept, -1)
        number = Known(torch.arange(size).float(), f"places_{size}")
        weights.append(importer.materialized(importer.elementwise(_WEIGHTS[interpolation], spread, number)))
    return sampled(importer.tensors, importer.value(x), weights)
