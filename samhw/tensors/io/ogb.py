"""Folders of the Open Graph Benchmark, as they are downloaded and unpacked: gzipped CSV files in ``raw``.

Of a graph with several kinds of nodes (ogbn-mag) it is the papers, and the citations between them.
"""

import re
from pathlib import Path

import numpy as np

from samhw.errors import InputError
from samhw.tensors.io.text import read_table
from samhw.tensors.io.text_file import TextFile
from samhw.tensors.tensor import Tensor

__all__ = ["is_folder", "read"]

_EDGES = ("edge.csv.gz", "relations/paper___cites___paper/edge.csv.gz")
_FEATURES = ("node-feat.csv.gz", "node-feat/paper/node-feat.csv.gz")
_NODES = ("num-node-list.csv.gz", "num-node-dict.csv.gz")

_UNDIRECTED = {"products", "proteins", "collab", "ddi", "ppa", "ppassoc"}
"""Data sets whose files have each edge in one direction, to which OGB's own loader adds the other; by the
names of their folders, as its archives have them, and without the ogbn_ or ogbl_ that its loader puts before
them."""


def is_folder(path: Path) -> bool:
    """Whether a folder is one of OGB's, or the ``raw`` folder in it."""
    return path.is_dir() and _raw(path) is not None


def read(path: Path) -> dict[str, Tensor]:
    """Read ``{"adjacency": ..., "features": ...}``; the latter only if nodes have features."""
    raw = _raw(path)
    if raw is None:
        raise InputError(f"{path} is no folder of OGB: it has no raw/edge.csv.gz")
    edges, counts, features = (
        next((TextFile(raw / name) for name in names if (raw / name).exists()), None)
        for names in (_EDGES, _NODES, _FEATURES)
    )
    if edges is None or counts is None:
        missing = _EDGES[0] if edges is None else _NODES[0]
        raise InputError(f"{raw} lacks {missing}: unpack the data set again")
    nodes = _nodes(counts)
    table = read_table(edges, separator=",")
    if table.rows.size and table.rows.shape[1] != 2:
        raise table.fault(0, f"{table.rows.shape[1]} numbers where an edge has 2")
    ends = table.coordinates(2, first=0)
    table.check_range(ends, (nodes, nodes), first=0)
    if re.sub("^ogb[nl][-_]", "", _name(path)) in _UNDIRECTED:
        ends = np.concatenate([ends, ends[::-1, ends[0] != ends[1]]], axis=1)
    key = np.unique(ends[0] * nodes + ends[1])
    coords = np.stack(np.divmod(key, nodes))
    found = {"adjacency": Tensor.from_coo(coords, np.ones(len(key), np.int64), (nodes, nodes), "csr")}
    if features is not None:
        rows = read_table(features, separator=",").rows
        if len(rows) != nodes:
            raise InputError(f"{features} has {len(rows)} lines but the graph has {nodes} nodes")
        found["features"] = Tensor.from_dense(rows, "dense")
    return found


def _raw(path: Path) -> Path | None:
    folders = (path, path / "raw")
    return next((f for f in folders if any((f / name).exists() for name in (*_EDGES, *_NODES))), None)


def _name(path: Path) -> str:
    folder = path.resolve()
    return (folder.parent if folder.name == "raw" else folder).name


def _nodes(counts: TextFile) -> int:
    """The number of nodes: the only number, or that below the name of the papers."""
    with counts.open() as file:
        rows = [line.split(",") for line in file.read(1 << 16).decode(errors="replace").split()]
    names = rows[0] if len(rows) == 2 else ["paper"]
    number = dict(zip(names, rows[-1] if rows else [], strict=False)).get("paper", "")
    if not number.isdecimal() or len(number) > 18 or len(rows) > 2:
        raise InputError(f"{counts} does not say how many nodes one graph has: unpack the data set again")
    return int(number)
