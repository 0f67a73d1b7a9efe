"""Edge lists as SNAP has them: two node numbers a line, and perhaps a weight; comments after ``#``."""

import re

import numpy as np

from samhw.errors import InputError
from samhw.tensors.formats.arrays import IntArray
from samhw.tensors.io.text import NumberTable, read_table
from samhw.tensors.io.text_file import TextFile
from samhw.tensors.tensor import Tensor

__all__ = ["read"]

_UNDIRECTED = "undirected graph"
"""What SNAP begins a graph with that has each edge in one direction only. What it says of directed graphs,
"each unordered pair of nodes is saved once", is not so: web-Google has edges in both directions, ca-GrQc has
each of them."""


def read(source: TextFile) -> Tensor:
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
