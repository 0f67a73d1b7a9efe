"""A graph as JSON text, and back.

Version 2 had no extents at the scanners of levels that store coordinates.
"""

import json
from dataclasses import replace
from typing import Any

from samhw.errors import InputError
from samhw.graph.ir import (
    Channel,
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    Node,
    TensorBinding,
)
from samhw.spec import Port, StoredArray, Stream, StreamKind
from samhw.tensors import Format

__all__ = ["dumps", "loads"]

VERSION = 3
READ = (2, 3)
"""The versions that `loads` takes."""


def dumps(graph: Graph) -> str:
    """The JSON text of a graph; equal graphs give equal texts."""
    data = {
        "version": VERSION,
        "name": graph.name,
        "value": graph.value,
        "extents": dict(graph.extents),
        "tensors": [
            {
                "name": t.name,
                "role": t.role,
                "format": t.format,
                "indices": t.indices,
                "shape": t.shape,
            }
            for t in graph.tensors
        ],
        "memories": [
            {
                "name": m.name,
                "tensor": m.tensor,
                "array": m.array,
                "role": m.role,
                "capacity": m.capacity,
                "value": m.value,
            }
            for m in graph.memories
        ],
        "nodes": [
            {
                "name": n.name,
                "kind": n.kind,
                "params": dict(n.params),
                "inputs": [_port_data(p) for p in n.inputs],
                "outputs": [_port_data(p) for p in n.outputs],
                "note": n.note,
                "region": n.region,
                "index": n.index,
            }
            for n in graph.nodes
        ],
        "channels": [
            {"source": c.source, "sink": c.sink, "latency": c.latency, "depth": c.depth}
            for c in graph.channels
        ],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def loads(text: str) -> Graph:
    """The graph of a JSON text by `dumps`, of this version or the one before; raises `InputError` for any
    other text."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"The graph is not JSON ({error}); give a file of 'samhw compile -o'.") from error
    if not isinstance(data, dict) or data.get("version") not in READ:
        version = data.get("version") if isinstance(data, dict) else None
        raise InputError(f"The graph has version {version}, not {VERSION}; compile it again.")
    try:
        graph = _graph(data)
        return graph if data["version"] == VERSION else _with_extents(graph)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"The graph is damaged ({what}); compile it again.") from error


def _port_data(port: Port) -> dict[str, Any]:
    return {"name": port.name, "kind": port.stream.kind, "depth": port.stream.depth}


def _port(data: dict[str, Any]) -> Port:
    return Port(data["name"], Stream(StreamKind(data["kind"]), data["depth"]))


def _with_extents(graph: Graph) -> Graph:
    """With the extents of stored coordinates, each that of the mode which its memory belongs to."""
    tensors = {tensor.name: tensor for tensor in graph.tensors}

    def of(node: Node) -> Node:
        lacking = [param for param in node.spec.extents if param not in node.params]
        stored = [n for p, n in node.memories.items() if node.spec.memories[p].array is StoredArray.CRD]
        if not lacking or not stored:
            return node
        memory = graph.memory[stored[0]]
        tensor = tensors[memory.tensor]
        level = int(memory.array.removeprefix("crd"))
        mode = Format.parse(tensor.format, len(tensor.shape)).mode_order[level]
        return replace(node, params={**node.params, **dict.fromkeys(lacking, tensor.indices[mode])})

    return replace(graph, nodes=tuple(of(node) for node in graph.nodes))


def _graph(data: dict[str, Any]) -> Graph:
    return Graph(
        name=data["name"],
        value=data["value"],
        nodes=tuple(
            Node(
                name=n["name"],
                kind=n["kind"],
                params=n["params"],
                inputs=tuple(_port(p) for p in n["inputs"]),
                outputs=tuple(_port(p) for p in n["outputs"]),
                note=n["note"],
                region=n["region"],
                index=n.get("index", ""),
            )
            for n in data["nodes"]
        ),
        channels=tuple(
            Channel(Endpoint(*c["source"]), Endpoint(*c["sink"]), c["latency"], c["depth"])
            for c in data["channels"]
        ),
        memories=tuple(Memory(**{**m, "role": MemoryRole(m["role"])}) for m in data["memories"]),
        tensors=tuple(
            TensorBinding(
                name=t["name"],
                role=MemoryRole(t["role"]),
                format=t["format"],
                indices=tuple(t["indices"]),
                shape=tuple(t["shape"]),
            )
            for t in data["tensors"]
        ),
        extents=data["extents"],
    )
