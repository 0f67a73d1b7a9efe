"""Graphs written by hand, for tests of the top level."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from samhw.graph import Channel, Endpoint, Graph, Memory, MemoryRole, Node, Port, Stream, StreamKind

__all__ = ["ROOT", "array", "copy_graph", "graph", "node", "scan"]

ROLES = {"C": MemoryRole.OUTPUT, "T": MemoryRole.BUFFER, "U": MemoryRole.BUFFER}


def node(name: str, kind: str, takes: str = "", gives: str = "", **params: Any) -> Node:
    """A node whose ports are written like `crd:crd1 val:val0`: name, kind and depth."""

    def ports(text: str) -> tuple[Port, ...]:
        found = re.findall(r"(\w+):([a-z]+)(\d)", text)
        return tuple(Port(port, Stream(StreamKind(kind), int(depth))) for port, kind, depth in found)

    return Node(name, kind, params, ports(takes), ports(gives))


def graph(
    nodes: Sequence[Node],
    channels: str,
    memories: Mapping[str, int],
    extents: Mapping[str, int] | None = None,
) -> Graph:
    """Channels are written like `a.out>b.in,c.in*2/4`: latency 2 (if not 1) and depth 4 (the default).

    The tensor C is the output; T and U are buffers between regions."""
    links = []
    syntax = r"([\w.]+)>([\w.,]+)(?:\*(\d+))?(?:/(\d+))?"
    for source, sinks, latency, depth in re.findall(syntax, channels):
        for sink in sinks.split(","):
            ends = Endpoint(*source.split(".")), Endpoint(*sink.split("."))
            links.append(Channel(*ends, int(latency or 1), int(depth or 4)))
    arrays = tuple(
        Memory(name, *name.split("."), ROLES.get(name[0], MemoryRole.INPUT), capacity)
        for name, capacity in memories.items()
    )
    return Graph("test", "i32", tuple(nodes), tuple(links), arrays, (), extents or {})


ROOT = node("root", "root", "", "out:ref0")


def scan(tensor: str, level: int = 1) -> Node:
    depth = level - 1
    params = {"pos": f"{tensor}.pos{level}", "crd": f"{tensor}.crd{level}"}
    outputs = f"crd:crd{level} ref:ref{level}"
    return node(f"scan_{tensor}{level}", "scan_compressed", f"ref:ref{depth}", outputs, **params)


def array(tensor: str, depth: int = 1) -> Node:
    return node(f"array_{tensor}", "array", f"ref:ref{depth}", f"val:val{depth}", vals=f"{tensor}.vals")


def copy_graph(capacity: int = 8) -> Graph:
    """C[i] = A[i], both compressed."""
    return graph(
        [
            ROOT,
            scan("A"),
            array("A"),
            node("write_crd", "write_compressed", "crd:crd1", pos="C.pos1", crd="C.crd1"),
            node("write_val", "write_val", "val:val1", vals="C.vals"),
        ],
        "root.out>scan_A1.ref scan_A1.crd>write_crd.crd*2 scan_A1.ref>array_A.ref "
        "array_A.val>write_val.val*2",
        {"A.pos1": 2, "A.crd1": 8, "A.vals": 8, "C.pos1": 2, "C.crd1": capacity, "C.vals": capacity},
    )
