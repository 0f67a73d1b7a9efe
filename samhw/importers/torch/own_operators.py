"""What operators are written with that PyTorch has no words for: operators that an importer takes and nobody
computes. An index tensor is a matrix with a one for each index, and gathers and scatters are products."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = [
    "NOTHING",
    "alone",
    "contract",
    "counts",
    "elsewhere",
    "hot",
    "joined",
    "letters",
    "line",
    "picked",
    "stored",
]

NOTHING = -(1 << 31)
"""An index that names no place."""

_OWN = torch.library.Library("samhw", "DEF")
_OWN.define("contract(str equation, Tensor[] operands, str reduction) -> Tensor")
_OWN.define("stored(Tensor x, str format) -> Tensor")
_OWN.define("hot(Tensor[] ids, int[] sizes, int[] order, int over, bool once) -> Tensor")
_OWN.define("counts(Tensor[] ids, int[] sizes, int[] order, int over) -> Tensor")
_OWN.define("elsewhere(Tensor made, Tensor x, Tensor counts) -> Tensor")
_OWN.define("alone(Tensor x) -> Tensor")
_OWN.define("joined(Tensor one, Tensor other) -> Tensor")
_OWN.define("line(Tensor ids, int dim) -> Tensor")


def letters(count: int, first: str = "a") -> str:
    """So many in a row."""
    return "".join(chr(ord(first) + n) for n in range(count))


def contract(equation: str, *operands: Tensor, reduction: str = "sum") -> Any:
    """An einsum that stays whole, in the type of its last operand.

    Args:
        reduction: in the place of the sum, `max` or `min` of what the first operand has ones for.
    """
    return torch.ops.samhw.contract(equation, list(operands), reduction)


def stored(x: Tensor, format: str) -> Any:
    """A constant that is stored in a format."""
    return torch.ops.samhw.stored(x, format)


def alone(x: Tensor) -> Any:
    """A tensor of its own, which is computed once and not at each place that reads it."""
    return torch.ops.samhw.alone(x)


def hot(
    *ids: Tensor, sizes: Sequence[int], order: Sequence[int] = (), over: int = 0, once: bool = False
) -> Any:
    """For each place in index tensors, which broadcast, a one at the coordinates that they name together.

    Args:
        sizes: the extents of the coordinates, which stand behind the places.
        order: another one of all these dimensions.
        over: how many of them, in that order, are last ones that go through what is put to one point.
        once: of several ones along these only the last one.
    """
    return torch.ops.samhw.hot(list(ids), list(sizes), list(order), over, once)


def counts(*ids: Tensor, sizes: Sequence[int], order: Sequence[int], over: int) -> Any:
    """The sum of what is `hot` over the last dimensions."""
    return torch.ops.samhw.counts(list(ids), list(sizes), list(order), over)


def elsewhere(made: Tensor, x: Tensor, counts: Tensor) -> Any:
    """What is made of 0 where something counts, and elsewhere what a tensor has."""
    return torch.ops.samhw.elsewhere(made, x, counts)


def joined(one: Tensor, other: Tensor) -> Any:
    """The total of two sums, which have just been made, in one statement."""
    return torch.ops.samhw.joined(one, other)


def line(ids: Tensor, dim: int) -> Any:
    """The list of indices along a dimension, which an index tensor repeats along all others."""
    return torch.ops.samhw.line(ids, dim)


def picked(x: Tensor, dim: int, ids: Tensor) -> Any:
    """What an index tensor names along a dimension, where its own dimensions stand; 0 for `NOTHING`."""
    own, places = letters(x.dim()), letters(ids.dim(), "A")
    dim %= x.dim()
    out = own[:dim] + places + own[dim + 1 :]
    return contract(f"{places}{own[dim]},{own}->{out}", hot(ids, sizes=[x.shape[dim]]), x)


@torch.library.register_fake("samhw::contract")
def _(equation: str, operands: Sequence[Tensor], reduction: str) -> Tensor:
    inputs, _, output = equation.partition("->")
    sizes: dict[str, int] = {}
    for row, operand in zip(inputs.split(","), operands, strict=True):
        for letter, size in zip(row, operand.shape, strict=True):
            sizes[letter] = max(sizes.get(letter, 1), size)
    return operands[-1].new_empty([sizes[letter] for letter in output])


@torch.library.register_fake("samhw::stored")
def _(x: Tensor, format: str) -> Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("samhw::hot")
def _(ids: Sequence[Tensor], sizes: Sequence[int], order: Sequence[int], over: int, once: bool) -> Tensor:
    shape = (*np.broadcast_shapes(*(each.shape for each in ids)), *sizes)
    return ids[0].new_empty([shape[dim] for dim in order or range(len(shape))], dtype=torch.float32)


@torch.library.register_fake("samhw::counts")
def _(ids: Sequence[Tensor], sizes: Sequence[int], order: Sequence[int], over: int) -> Tensor:
    made: Tensor = torch.ops.samhw.hot(ids, sizes, order, over, False)
    return made.new_empty(made.shape[: made.dim() - over])


@torch.library.register_fake("samhw::elsewhere")
def _(made: Tensor, x: Tensor, counts: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("samhw::alone")
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("samhw::joined")
def _(one: Tensor, other: Tensor) -> Tensor:
    return torch.empty_like(one)


@torch.library.register_fake("samhw::line")
def _(ids: Tensor, dim: int) -> Tensor:
    return ids.new_empty(ids.shape[dim])
