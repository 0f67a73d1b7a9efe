"""FROSTT files: a line of 1-based coordinates and a value per entry, comments after ``#``."""

from pathlib import Path

import numpy as np

from samhw.errors import InputError
from samhw.files import replacing
from samhw.tensors.io.text import NumberTable, read_sizes, read_table, write_rows
from samhw.tensors.io.text_file import TextFile
from samhw.tensors.tensor import Tensor

__all__ = ["read", "write"]


def read(source: TextFile) -> Tensor:
    """Read a tensor as CSF; its shape is that of a comment ``# shape: 3 4``, or the largest coordinates."""
    table = read_table(source)
    shape = _stated_shape(table)
    if not table.rows.size:
        if shape is None:
            raise InputError(
                f"{source} has no entries and states no shape: add a line such as '# shape: 3 4'"
            )
        return Tensor.from_coo(np.zeros((len(shape), 0), int), np.zeros(0), shape, _format(len(shape)))
    rank = table.rows.shape[1] - 1
    coords = table.coordinates(rank)
    if shape is None:
        shape = tuple(int(row.max()) + 1 for row in coords)
    elif len(shape) != rank:
        raise InputError(f"{source} states a shape of rank {len(shape)} but has {rank} coordinates a line")
    table.check_range(coords, shape)
    return Tensor.from_coo(coords, table.rows[:, -1], shape, _format(rank))


def write(path: Path, tensor: Tensor) -> None:
    """Write the shape as a comment, then the entries in lexicographic order."""
    coords, vals = tensor.to_coo(drop_zeros=tensor.format.stores_fill)
    with replacing(path) as file:
        file.write(f"# shape: {' '.join(map(str, tensor.shape))}\n".encode())
        file.write(write_rows(*(coords + 1), vals))


def _format(rank: int) -> str:
    return "csf" if rank else "scalar"


def _stated_shape(table: NumberTable) -> tuple[int, ...] | None:
    for comment in table.comments:
        if comment.startswith("shape:"):
            sizes = read_sizes(comment.removeprefix("shape:").split())
            if sizes is None:
                raise InputError(
                    f"{table.source}: '# {comment}' does not parse: write it as in '# shape: 3 4'"
                )
            return sizes
    return None
