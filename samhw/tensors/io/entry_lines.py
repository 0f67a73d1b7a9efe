"""Text files with a line for each entry: tensors as FROSTT has them, and edge lists as SNAP has."""

import re
from pathlib import Path

import numpy as np

from samhw.errors import InputError
from samhw.files import replacing
from samhw.tensors.formats.arrays import IntArray
from samhw.tensors.io.text import NumberTable, read_sizes, read_table, write_rows
from samhw.tensors.io.text_file import TextFile
from samhw.tensors.tensor import Tensor

__all__ = [
    "read",
    "read_edges",
    "write",
]


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


_UNDIRECTED = "undirected graph"
"""What SNAP begins a graph with that has each edge in one direction only. What it says of directed graphs,
"each unordered pair of nodes is saved once", is not so: web-Google has edges in both directions, ca-GrQc has
each of them."""


def read_edges(source: TextFile) -> Tensor:
    """Read the adjacency of a graph as CSR; edges without a weight have 1, and equal ones are one. Those of
    an undirected graph get their other direction.

    Nodes are numbered from 0. If a comment ``# Nodes: 5`` says how many there are, and their numbers are not
    those below, they are renumbered in the order of their numbers.
    """
    table = read_table(source)
    if not table.rows.size:
        raise InputError(f"{source} has no edges: give two node numbers a line")
    columns = table.rows.shape[1]
    if columns not in (2, 3):
        raise table.fault(0, f"{columns} numbers where an edge has 2, or 3 with a weight")
    edges, nodes = _numbered(table)
    vals = table.rows[:, 2] if columns == 3 else np.ones(len(table.rows), np.int64)
    if any(comment.lower().startswith(_UNDIRECTED) for comment in table.comments):
        beside = edges[0] != edges[1]
        edges = np.concatenate([edges, edges[::-1, beside]], axis=1)
        vals = np.concatenate([vals, vals[beside]])
    if columns == 2:
        key = np.unique(edges[0] * nodes + edges[1])
        edges, vals = np.stack(np.divmod(key, nodes)), np.ones(len(key), np.int64)
    return Tensor.from_coo(edges, vals, (nodes, nodes), "csr")


def _numbered(table: NumberTable) -> tuple[IntArray, int]:
    """The ends of all edges, and how many nodes there are."""
    ends = table.coordinates(2, first=0)
    highest = int(ends.max())
    stated = (re.search(r"nodes:\s*(\d{1,18})", comment, re.IGNORECASE) for comment in table.comments)
    nodes = next((int(found[1]) for found in stated if found), highest + 1)
    if highest < nodes:
        return ends, nodes
    names, numbers = np.unique(ends, return_inverse=True)
    return numbers.reshape(ends.shape), max(nodes, len(names))
