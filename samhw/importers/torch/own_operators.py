"""What operators are written with that PyTorch has no words for: operators that an importer takes and nobody
computes. An index tensor is a matrix with a one for each index, and gathers and scatters are products."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from samhw.importers.core import letters

__all__ = [
    "NOTHING",
    "alone",
    "contract",
    "counts",
    "elsewhere",
    "hot",
    "joined",
    "line",
    "picked",
    "stored",
    "taken_apart",
]

NOTHING = -(1 << 31)
"""An index that names no place."""


def _operator(schema: str, like: Callable[..., Tensor]) -> Any:
    """An operator that has a shape and no values."""
    name, signature = schema.split("(", 1)
    torch.library.define(f"samhw::{name}", f"({signature} -> Tensor")
    torch.library.register_fake(f"samhw::{name}", like)
    return getattr(torch.ops.samhw, name)


def _of_letters(equation: str, operands: Sequence[Tensor], _: str) -> Tensor:
    inputs, _, output = equation.partition("->")
    sizes: dict[str, int] = {}
    for row, operand in zip(inputs.split(","), operands, strict=True):
        for letter, size in zip(row, operand.shape, strict=True):
            sizes[letter] = max(sizes.get(letter, 1), size)
    return operands[-1].new_empty([sizes[letter] for letter in output])


def _of_ones(ids: Sequence[Tensor], sizes: Sequence[int], order: Sequence[int], *_: object) -> Tensor:
    shape = (*np.broadcast_shapes(*(each.shape for each in ids)), *sizes)
    return ids[0].new_empty([shape[dim] for dim in order or range(len(shape))], dtype=torch.float32)


def _of_counts(ids: Sequence[Tensor], sizes: Sequence[int], order: Sequence[int], over: int) -> Tensor:
    made = _of_ones(ids, sizes, order)
    return made.new_empty(made.shape[: made.dim() - over])


_contract = _operator("contract(str equation, Tensor[] operands, str reduction)", _of_letters)
_stored = _operator("stored(Tensor x, str format)", lambda x, _: torch.empty_like(x))
_alone = _operator("alone(Tensor x)", torch.empty_like)
_joined = _operator("joined(Tensor one, Tensor other)", lambda one, _: torch.empty_like(one))
_hot = _operator("hot(Tensor[] ids, int[] sizes, int[] order, int over, bool once)", _of_ones)
_counts = _operator("counts(Tensor[] ids, int[] sizes, int[] order, int over)", _of_counts)
_elsewhere = _operator(
    "elsewhere(Tensor made, Tensor x, Tensor counts)", lambda _, x, __: torch.empty_like(x)
)
_line = _operator("line(Tensor ids, int dim)", lambda ids, dim: ids.new_empty(ids.shape[dim]))


def contract(equation: str, *operands: Tensor, reduction: str = "sum") -> Any:
    """An einsum that stays whole, in the type of its last operand.

    Args:
        reduction: in the place of the sum, `max` or `min` of what the first operand has ones for.
    """
    return _contract(equation, list(operands), reduction)


def stored(x: Tensor, format: str) -> Any:
    """A constant that is stored in a format."""
    return _stored(x, format)


def alone(x: Tensor) -> Any:
    """A tensor of its own, which is computed once and not at each place that reads it."""
    return _alone(x)


def hot(
    *ids: Tensor, sizes: Sequence[int], order: Sequence[int] = (), over: int = 0, once: bool = False
) -> Any:
    """For each place in index tensors, which broadcast, a one at the coordinates that they name together.

    Args:
        sizes: the extents of the coordinates, which stand after the places.
        order: another one of all these dimensions.
        over: how many of them, in that order, are last ones that go through what is put to one point.
        once: of several ones along these only the last one.
    """
    return _hot(list(ids), list(sizes), list(order), over, once)


def counts(*ids: Tensor, sizes: Sequence[int], order: Sequence[int], over: int) -> Any:
    """The sum of what is `hot` over the last dimensions."""
    return _counts(list(ids), list(sizes), list(order), over)


def elsewhere(made: Tensor, x: Tensor, counts: Tensor) -> Any:
    """What is made of 0 where something counts, and elsewhere what a tensor has."""
    return _elsewhere(made, x, counts)


def joined(one: Tensor, other: Tensor) -> Any:
    """The total of two sums, which have just been made, in one statement."""
    return _joined(one, other)


def line(ids: Tensor, dim: int) -> Any:
    """The list of indices along a dimension, which an index tensor repeats along all others."""
    return _line(ids, dim)


def picked(x: Tensor, dim: int, ids: Tensor) -> Any:
    """What an index tensor names along a dimension, where its own dimensions stand; 0 for `NOTHING`."""
    own, places = letters(x.dim()), letters(ids.dim(), "A")
    dim %= x.dim()
    out = own[:dim] + places + own[dim + 1 :]
    return contract(f"{places}{own[dim]},{own}->{out}", hot(ids, sizes=[x.shape[dim]]), x)


def taken_apart(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """With several dimensions in the place of one."""
    dim %= x.dim()
    return x.reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1 :])
