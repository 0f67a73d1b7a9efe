"""Small graphs, wired by hand."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from samhw.graph import Arch, Channel, Endpoint, Graph, Memory, MemoryRole, Node, latency, make
from samhw.graph.numerics import value_type

DEPTH = 8
CAPACITY = 64
WIDE = {"x": 1 << 20}
"""The extent of stored coordinates, where a test is not about it: beyond them all."""


class Builder:
    """Collects nodes and channels; memories come from the nodes' params."""

    def __init__(self, arch: Arch | None = None):
        self.arch = arch or Arch()
        self.nodes: dict[str, Node] = {}
        self.channels: list[Channel] = []

    def add(self, kind: str, name: str, depth: int, *feeds: str, **params: Any) -> str:
        """Adds a node whose inputs are fed, in order, by outputs written 'node.port'."""
        node = self.nodes[name] = make(kind, name, depth, **params)
        for port, feed in zip(node.inputs, feeds, strict=True):
            source = Endpoint(*feed.split("."))
            cycles = latency(self.nodes[source.node], source.port, self.arch, value_type("i32"))
            self.channels.append(Channel(source, Endpoint(name, port.name), cycles, DEPTH))
        return name

    def graph(self, extents: dict[str, int] | None = None, capacity: int = CAPACITY) -> Graph:
        """The graph, with memories of one capacity."""
        memories = []
        for node in self.nodes.values():
            for param, name in node.memories.items():
                use = node.spec.memories[param]
                role = MemoryRole.OUTPUT if use.written else MemoryRole.INPUT
                memories.append(Memory(name, "", use.array, role, capacity))
        nodes, channels = tuple(self.nodes.values()), tuple(self.channels)
        used = {index for node in nodes for index in node.extents.values()}
        wide = {index: greatest for index, greatest in WIDE.items() if index in used}
        return Graph("test", value_type("i32"), nodes, channels, tuple(memories), (), wide | (extents or {}))


@dataclass
class Program:
    """A graph with its data, and what it must compute."""

    graph: Graph
    memories: dict[str, np.ndarray]
    extents: dict[str, int]
    expected: dict[str, list[int]]


def compress(matrix: np.ndarray, name: str) -> dict[str, np.ndarray]:
    """A doubly compressed matrix as memories <name>0p, <name>0c, <name>1p, <name>1c, <name>v."""
    rows = [i for i in range(len(matrix)) if matrix[i].any()]
    fibers = [np.flatnonzero(matrix[i]) for i in rows]
    nothing = np.zeros(0, np.int64)
    crds = np.concatenate([nothing, *fibers])
    vals = np.concatenate([nothing, *(matrix[i][f] for i, f in zip(rows, fibers, strict=True))])
    return {
        f"{name}0p": np.array([0, len(rows)]),
        f"{name}0c": np.array(rows, np.int64),
        f"{name}1p": np.cumsum([0, *map(len, fibers)]),
        f"{name}1c": crds,
        f"{name}v": vals & 0xFFFFFFFF,
    }


def gustavson(b: np.ndarray, c: np.ndarray, arch: Arch | None = None) -> Program:
    """X[i,j] = B[i,k] * C[k,j] over i, k, j, all doubly compressed, with a vector reducer."""
    g = Builder(arch)
    g.add("root", "root", 0)
    g.add("scan_compressed", "Bi", 0, "root.out", pos="B0p", crd="B0c", extent="x")
    g.add("scan_compressed", "Bk", 1, "Bi.ref", pos="B1p", crd="B1c", extent="x")
    g.add("repeat", "Ci", 0, "root.out", "Bi.crd", payload="ref")
    g.add("scan_compressed", "Ck", 1, "Ci.ref", pos="C0p", crd="C0c", extent="x")
    g.add("intersect", "k", 2, "Bk.crd", "Bk.ref", "Ck.crd", "Ck.ref", inputs=2, payloads=["ref", "ref"])
    g.add("scan_compressed", "Cj", 2, "k.ref1", pos="C1p", crd="C1c", extent="x")
    g.add("repeat", "Bj", 2, "k.ref0", "Cj.crd", payload="ref")
    g.add("array", "Bv", 3, "Bj.ref", vals="Bv")
    g.add("array", "Cv", 3, "Cj.ref", vals="Cv")
    g.add("alu", "mul", 3, "Bv.val", "Cv.val", op="mul")
    g.add("reduce_vector", "sum", 3, "Cj.crd", "mul.val", op="sum", bits=[6])
    g.add("drop_crd", "drop", 1, "Bi.crd", "sum.crd0")
    g.add("write_compressed", "X0", 1, "drop.outer", pos="X0p", crd="X0c")
    g.add("write_compressed", "X1", 2, "drop.inner", pos="X1p", crd="X1c")
    g.add("write_val", "X", 2, "sum.val", vals="Xv")
    # The vector reducer keeps sums that are zero, so the pattern counts, not the values.
    product, pattern = b @ c, (b != 0).astype(int) @ (c != 0).astype(int)
    stored = compress(pattern, "X")
    rows = np.repeat(stored["X0c"], np.diff(stored["X1p"]))
    stored["Xv"] = product[rows, stored["X1c"]] & 0xFFFFFFFF
    expected = {name: [int(w) for w in words] for name, words in stored.items()}
    return Program(g.graph(capacity=256), compress(b, "B") | compress(c, "C"), WIDE, expected)


def row_minus_sum(matrix: np.ndarray, arch: Arch | None = None) -> Program:
    """Y[i,j] = X[i,j] - sum_j X[i,j] of a dense matrix: a fork that meets again after a reduction."""
    g = Builder(arch)
    g.add("root", "root", 0)
    g.add("scan_dense", "i", 0, "root.out", extent="i")
    g.add("scan_dense", "j", 1, "i.ref", extent="j")
    g.add("array", "x", 2, "j.ref", vals="xv")
    g.add("reduce_scalar", "sum", 2, "x.val", op="sum")
    g.add("repeat", "each", 1, "sum.val", "j.crd", payload="val")
    g.add("alu", "sub", 2, "x.val", "each.ref", op="sub")
    g.add("write_dense", "Y0", 1, "i.crd", extent="i")
    g.add("write_dense", "Y1", 2, "j.crd", extent="j")
    g.add("write_val", "Y", 2, "sub.val", vals="yv")
    rows, columns = matrix.shape
    result = matrix - matrix.sum(axis=1, keepdims=True)
    return Program(
        g.graph({"i": 8, "j": 8}),
        {"xv": matrix.ravel() & 0xFFFFFFFF},
        {"i": rows, "j": columns},
        {"yv": [int(w) for w in result.ravel() & 0xFFFFFFFF]},
    )


def matrix_sum(b: np.ndarray, c: np.ndarray, arch: Arch | None = None) -> Program:
    """X[i,j] = B[i,j] + C[i,j], all doubly compressed."""
    g = Builder(arch)
    g.add("root", "root", 0)
    for name in "BC":
        g.add("scan_compressed", f"{name}i", 0, "root.out", pos=f"{name}0p", crd=f"{name}0c", extent="x")
    g.add("union", "i", 1, "Bi.crd", "Bi.ref", "Ci.crd", "Ci.ref", inputs=2, payloads=["ref", "ref"])
    for name, ref in (("B", "i.ref0"), ("C", "i.ref1")):
        g.add("scan_compressed", f"{name}j", 1, ref, pos=f"{name}1p", crd=f"{name}1c", extent="x")
    g.add("union", "j", 2, "Bj.crd", "Bj.ref", "Cj.crd", "Cj.ref", inputs=2, payloads=["ref", "ref"])
    g.add("array", "Bv", 2, "j.ref0", vals="Bv")
    g.add("array", "Cv", 2, "j.ref1", vals="Cv")
    g.add("alu", "add", 2, "Bv.val", "Cv.val", op="add")
    g.add("write_compressed", "X0", 1, "i.crd", pos="X0p", crd="X0c")
    g.add("write_compressed", "X1", 2, "j.crd", pos="X1p", crd="X1c")
    g.add("write_val", "X", 2, "add.val", vals="Xv")
    stored = compress((b != 0) | (c != 0), "X")
    rows = np.repeat(stored["X0c"], np.diff(stored["X1p"]))
    stored["Xv"] = (b + c)[rows, stored["X1c"]] & 0xFFFFFFFF
    expected = {name: [int(w) for w in words] for name, words in stored.items()}
    return Program(g.graph(), compress(b, "B") | compress(c, "C"), WIDE, expected)
