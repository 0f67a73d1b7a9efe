"""Diagonals: products with constants that have a one for each of their elements."""

import torch

from samhw.importers.core import Hints, Value, contract
from samhw.importers.torch import host
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.operators.gather import letters
from samhw.importers.torch.registry import operator

__all__: list[str] = []


@operator("diagonal", "linalg_diagonal", "diagonal_copy")
def import_diagonal(importer: Importer, x: Operand, offset: int = 0, one: int = 0, other: int = 1) -> Value:
    """The diagonal of two dimensions stands in the last one."""
    shape = importer.shape(x)
    one, other = one % len(shape), other % len(shape)
    own = letters(len(shape), "a")
    ones = _ones(importer, shape[one], shape[other], offset)
    rest = "".join(letter for dim, letter in enumerate(own) if dim not in (one, other))
    equation = f"Z{own[one]}{own[other]},{own}->{rest}Z"
    return contract(importer.tensors, equation, ones, importer.value(x))


@operator("diag_embed")
def import_diag_embed(
    importer: Importer, x: Operand, offset: int = 0, one: int = -2, other: int = -1
) -> Value:
    """The last dimension becomes the diagonal of two."""
    shape = importer.shape(x)
    rank = len(shape) + 1
    one, other = one % rank, other % rank
    size = shape[-1] + abs(offset)
    own = letters(len(shape) - 1, "a")
    left = iter(own)
    out = "".join("X" if dim == one else "Y" if dim == other else next(left) for dim in range(rank))
    ones = _ones(importer, size, size, offset)
    return contract(importer.tensors, f"ZXY,{own}Z->{out}", ones, importer.value(x))


@operator("diag")
def import_diag(importer: Importer, x: Operand, offset: int = 0) -> Value:
    """Of a matrix its diagonal, of a vector the matrix that has it there."""
    return (import_diag_embed if len(importer.shape(x)) == 1 else import_diagonal)(importer, x, offset)


def _ones(importer: Importer, rows: int, columns: int, offset: int) -> Value:
    """A one at row and column of each element of the diagonal."""
    first, second = max(-offset, 0), max(offset, 0)
    places = torch.arange(min(rows - first, columns - second))
    coords = torch.stack([places, places + first, places + second])
    held = torch.sparse_coo_tensor(coords, torch.ones(len(places)), (len(places), rows, columns)).coalesce()
    return importer.constant(held, "diagonal", Hints(host.rows_of(held, compressed=2)))
