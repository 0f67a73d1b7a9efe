"""Data sets: a graph's adjacency, and the features of its nodes."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from samhw.errors import InputError
from samhw.files import check_readable, reason
from samhw.tensors.io.npz import array_names, load_arrays
from samhw.tensors.io.text import read_table
from samhw.tensors.io.text_file import TextFile
from samhw.tensors.tensor import Tensor

__all__ = ["is_dataset", "read_dataset"]

# Folders of the Open Graph Benchmark, as they are downloaded and unpacked: gzipped CSV files in ``raw``.
#
# Of a graph with several kinds of nodes (ogbn-mag) it is the papers, and the citations between them.


_EDGES = ("edge.csv.gz", "relations/paper___cites___paper/edge.csv.gz")
_FEATURES = ("node-feat.csv.gz", "node-feat/paper/node-feat.csv.gz")
_NODES = ("num-node-list.csv.gz", "num-node-dict.csv.gz")

_UNDIRECTED = {"products", "proteins", "collab", "ddi", "ppa", "ppassoc"}
"""Data sets whose files have each edge in one direction, to which OGB's own loader adds the other; by the
names of their folders, as its archives have them, and without the ogbn_ or ogbl_ that its loader puts before
them."""


def _is_ogb_folder(path: Path) -> bool:
    """Whether a folder is one of OGB's, or the ``raw`` folder in it."""
    return path.is_dir() and _raw(path) is not None


def _read_ogb(path: Path) -> dict[str, Tensor]:
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


_FORMS = (("adj_", "feat_"), ("adj_", "attr_"), ("adj_matrix.", "attr_matrix."))
"""What the names of the arrays begin with: in our own files, in CitationFull's and Planetoid's, and in older
ones of these."""

_PARTS = ("indptr", "indices", "shape")

_DENSE = "attr_matrix"
"""Features that are stored densely."""


def is_dataset(path: Path) -> bool:
    """Whether something is for :func:`read_dataset`: a folder of OGB, or an archive with such arrays."""
    try:
        if path.is_dir():
            return _is_ogb_folder(path)
        names = array_names(check_readable(path))
        return any(f"{adjacency}indptr" in names for adjacency, _ in _FORMS)
    except (OSError, InputError):
        return False


def read_dataset(path: Path | str) -> dict[str, Tensor]:
    """Read ``{"adjacency": ..., "features": ...}`` of a graph; what a data set lacks is left out.

    Parameters
    ----------
    path
        - ``.npz`` of CitationFull or Planetoid: ``adj_indptr``, ``adj_indices`` and ``adj_shape``, with
          integers 1 where there are no ``adj_data``; ``attr_indptr``, ``attr_indices``, ``attr_data`` and
          ``attr_shape``, or the same with ``feat_``. A graph without features has only the former, and dense
          ones are ``attr_matrix``. Further arrays are ignored.
        - a folder of OGB, with ``raw/edge.csv.gz``.

    Raises
    ------
    InputError
        When the file does not exist, an array is missing, or the arrays are not CSR matrices.
    """
    path = Path(path)
    try:
        if not path.exists():
            raise InputError(f"{path} does not exist: name an .npz data-set file, or a folder of OGB")
        return _read_ogb(path) if path.is_dir() else _read_archive(check_readable(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from error


def _read_archive(path: Path) -> dict[str, Tensor]:
    names = array_names(path)
    found = [(a, f) for a, f in _FORMS if names & {f"{f}{part}" for part in (*_PARTS, "data")}]
    adjacency, features = found[0] if found else ("adj_", "")
    wanted = [f"{adjacency}{part}" for part in _PARTS]
    if features:
        wanted += [f"{features}{part}" for part in (*_PARTS, "data")]
    if missing := [name for name in wanted if name not in names]:
        raise InputError(f"{path} is not a data-set file: it lacks {', '.join(missing)}")
    arrays = load_arrays(path, [*wanted, *{f"{adjacency}data", _DENSE} & names])
    ones = np.ones(arrays[f"{adjacency}indices"].shape, np.int64)
    tensors = {"adjacency": _csr(path, adjacency, arrays, arrays.get(f"{adjacency}data", ones))}
    if features:
        tensors["features"] = _csr(path, features, arrays, arrays[f"{features}data"])
    elif _DENSE in arrays:
        tensors["features"] = Tensor.from_dense(arrays[_DENSE], "dense")
    return tensors


def _csr(path: Path, prefix: str, arrays: dict[str, npt.NDArray[Any]], data: npt.NDArray[Any]) -> Tensor:
    indptr, indices, shape = (arrays[f"{prefix}{part}"] for part in _PARTS)
    try:
        matrix: Any = scipy.sparse.csr_array((data, indices, indptr), tuple(shape.tolist()))
        return Tensor.from_scipy(matrix, "csr")
    except (InputError, ValueError, TypeError, IndexError) as error:
        raise InputError(f"{path}: the {prefix} arrays are not a CSR matrix: {error}") from error
