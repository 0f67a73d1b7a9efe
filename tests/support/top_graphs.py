"""Graphs written by hand, for tests of the top level."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from samhw.graph import (
    Channel,
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    Node,
    Payload,
    Port,
    Stream,
    StreamKind,
    TensorBinding,
)
from samhw.graph.numerics import value_type
from samhw.graph.spec import spec_of

__all__ = [
    "ROOT",
    "WIDE",
    "array",
    "column_sums",
    "copy_graph",
    "dense_copy",
    "graph",
    "less_the_greatest",
    "node",
    "scan",
]


WIDE = {"x": 100}
"""The extent of stored coordinates, where a test is not about it: beyond them all."""


def node(name: str, kind: str, takes: str = "", gives: str = "", **params: Any) -> Node:
    """A node whose ports are written like `crd:crd1 val:val0`: name, kind and depth."""

    def ports(text: str) -> tuple[Port, ...]:
        found = re.findall(r"(\w+):([a-z]+)(\d)", text)
        return tuple(Port(port, Stream(Payload(StreamKind(kind)), int(depth))) for port, kind, depth in found)

    return Node(name, kind, spec_of(kind).read(params), ports(takes), ports(gives))


def graph(
    nodes: Sequence[Node],
    channels: str,
    memories: Mapping[str, int],
    extents: Mapping[str, int] | None = None,
    *,
    output: str = "C",
) -> Graph:
    """Channels are written like `a.out>b.in,c.in*2/4`: latency 2 (if not 1) and depth 4 (the default).

    `output` names the tensor that the graph writes."""
    links = []
    syntax = r"([\w.]+)>([\w.,]+)(?:\*(\d+))?(?:/(\d+))?"
    for source, sinks, latency, depth in re.findall(syntax, channels):
        for sink in sinks.split(","):
            ends = Endpoint(*source.split(".")), Endpoint(*sink.split("."))
            links.append(Channel(*ends, int(latency or 1), int(depth or 4)))
    roles = dict.fromkeys((name.split(".")[0] for name in memories), MemoryRole.INPUT)
    roles[output] = MemoryRole.OUTPUT
    arrays = tuple(
        Memory(name, tensor, array, roles[tensor], capacity)
        for name, capacity in memories.items()
        for tensor, array in [name.split(".")]
    )
    tensors = tuple(TensorBinding(tensor, role, "", (), ()) for tensor, role in roles.items())
    used = {node.params.get("extent") for node in nodes}
    wide = {index: greatest for index, greatest in WIDE.items() if index in used}
    return Graph(
        "test", value_type("i32"), tuple(nodes), tuple(links), arrays, tensors, wide | dict(extents or {})
    )


ROOT = node("root", "root", "", "out:ref0")


def scan(tensor: str, level: int = 1) -> Node:
    depth = level - 1
    params = {"pos": f"{tensor}.pos{level}", "crd": f"{tensor}.crd{level}", "extent": "x"}
    outputs = f"crd:crd{level} ref:ref{level}"
    return node(f"scan_{tensor}{level}", "scan_compressed", f"ref:ref{depth}", outputs, **params)


def array(tensor: str, depth: int = 1) -> Node:
    return node(f"array_{tensor}", "array", f"ref:ref{depth}", f"val:val{depth}", vals=f"{tensor}.vals")


def copy_graph(capacity: int = 8, *, source: str = "A", target: str = "C") -> Graph:
    """C[i] = A[i], both compressed; or other tensors."""
    return graph(
        [
            ROOT,
            scan(source),
            array(source),
            node("write_crd", "write_compressed", "crd:crd1", pos=f"{target}.pos1", crd=f"{target}.crd1"),
            node("write_val", "write_val", "val:val1", vals=f"{target}.vals"),
        ],
        f"root.out>scan_{source}1.ref scan_{source}1.crd>write_crd.crd*2 "
        f"scan_{source}1.ref>array_{source}.ref array_{source}.val>write_val.val*2",
        {f"{source}.pos1": 2, f"{source}.crd1": 8, f"{source}.vals": 8}
        | {f"{target}.pos1": 2, f"{target}.crd1": capacity, f"{target}.vals": capacity},
        output=target,
    )


def column_sums(target: str = "C") -> Graph:
    """C[j] = sum over i of A[i,j], with A doubly compressed."""
    return graph(
        [
            ROOT,
            scan("A"),
            scan("A", 2),
            array("A", 2),
            node("reduce", "reduce_vector", "crd0:crd2 val:val2", "crd0:crd1 val:val1", op="sum", bits=[4]),
            node("write_crd", "write_compressed", "crd:crd1", pos=f"{target}.pos1", crd=f"{target}.crd1"),
            node("write_val", "write_val", "val:val1", vals=f"{target}.vals"),
        ],
        "root.out>scan_A1.ref scan_A1.ref>scan_A2.ref scan_A2.crd>reduce.crd0*2 scan_A2.ref>array_A.ref "
        "array_A.val>reduce.val*2 reduce.crd0>write_crd.crd reduce.val>write_val.val*2",
        {"A.pos1": 2, "A.crd1": 4, "A.pos2": 5, "A.crd2": 8, "A.vals": 8}
        | {f"{target}.pos1": 2, f"{target}.crd1": 8, f"{target}.vals": 8},
        output=target,
    )


def less_the_greatest(source: str = "A") -> Graph:
    """C[i] = A[i] less the greatest of them, for at most four: they wait in a channel of that depth."""
    scan_it, array_it = f"scan_{source}1", f"array_{source}"
    return graph(
        [
            ROOT,
            scan(source),
            array(source),
            node("greatest", "reduce_scalar", "val:val1", "val:val0", op="max"),
            node("repeat", "repeat", "ref:val0 crd:crd1", "ref:val1"),
            node("sub", "alu", "a:val1 b:val1", "val:val1", op="sub"),
            node("write", "write_val", "val:val1", vals="C.vals"),
        ],
        f"root.out>{scan_it}.ref {scan_it}.crd>repeat.crd*2/20 {scan_it}.ref>{array_it}.ref/20 "
        f"{array_it}.val>greatest.val,sub.a*2/4 greatest.val>repeat.ref repeat.ref>sub.b sub.val>write.val*2",
        {f"{source}.pos1": 2, f"{source}.crd1": 8, f"{source}.vals": 8, "C.vals": 8},
    )


def dense_copy(source: str = "A", target: str = "C") -> Graph:
    """C[i] = A[i], both dense."""
    return graph(
        [
            ROOT,
            node("scan", "scan_dense", "ref:ref0", "crd:crd1 ref:ref1", extent="i"),
            array(source),
            node("write_crd", "write_dense", "crd:crd1", extent="i"),
            node("write_val", "write_val", "val:val1", vals=f"{target}.vals"),
        ],
        f"root.out>scan.ref scan.crd>write_crd.crd scan.ref>array_{source}.ref "
        f"array_{source}.val>write_val.val*2",
        {f"{source}.vals": 6, f"{target}.vals": 6},
        {"i": 6},
        output=target,
    )
