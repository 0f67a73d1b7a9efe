"""A design as JSON text, and back."""

import json
from math import inf
from typing import Any

from samhw.errors import InputError
from samhw.graph.design import Design
from samhw.graph.ir import Channel, Endpoint, Graph, Memory, MemoryRole, Node, TensorBinding
from samhw.graph.numerics import ValueType, value_type
from samhw.graph.sequence import Parallel, Repeat, Run, Step, Steps
from samhw.graph.spec import Payload, Port, Stream, StreamKind, spec_of

__all__ = ["dumps", "loads"]

VERSION = 4

_INFINITIES = {str(number): number for number in (inf, -inf)}


def dumps(design: Design) -> str:
    """The JSON text of a design; equal designs give equal texts.

    What regions share stands at the top; a region has the names of what it uses, with the role.
    """
    data = {
        "version": VERSION,
        "name": design.name,
        "value": design.value.name,
        "extents": dict(design.extents),
        "tensors": [
            {
                "name": t.name,
                "role": t.role,
                "format": t.format,
                "indices": t.indices,
                "shape": t.shape,
                "shards": t.shards,
                "alias_of": t.alias_of,
                **({"rows": t.rows} if t.rows else {}),
                **({"block_counts": t.block_counts} if t.block_counts else {}),
                **({"is_step": True} if t.is_step else {}),
            }
            for t in design.tensors
        ],
        "memories": [
            {
                "name": m.name,
                "tensor": m.tensor,
                "array": m.array,
                "role": m.role,
                "capacity": m.capacity,
                "value": m.value and m.value.name,
                "shard": m.shard,
                **({"block": m.block} if m.block else {}),
                **({"banks": m.banks} if m.banks else {}),
            }
            for m in design.memories
        ],
        "regions": [_region_data(graph) for graph in design.regions],
        "sequence": _steps_data(design.sequence),
        **({"fabrics": design.fabrics} if design.fabrics else {}),
        **(
            {"shared_nodes": [[*users.items()] for users in design.shared_nodes]}
            if design.shared_nodes
            else {}
        ),
        **({"fixed": design.fixed} if design.fixed else {}),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def loads(text: str) -> Design:
    """The design of a JSON text by `dumps`, of this version; raises `InputError` for any other text."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"The graph is not JSON ({error}); give a file of 'samhw compile -o'.") from error
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise InputError(f"The graph has version {version}, not {VERSION}; compile it again.")
    try:
        return _design(data)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"The graph is damaged ({what}); compile it again.") from error


def _steps_data(steps: Steps) -> list[dict[str, Any]]:
    return [_step_data(step) for step in steps]


def _step_data(step: Step) -> dict[str, Any]:
    match step:
        case Run():
            return {"run": step.region}
        case Repeat():
            return {"repeat": step.index, "extent": step.extent, "body": _steps_data(step.body)}
        case Parallel():
            return {"parallel": [_steps_data(body) for body in step.bodies]}


def _region_data(graph: Graph) -> dict[str, object]:
    return {
        "name": graph.name,
        "extents": list(graph.extents),
        "tensors": {t.name: t.role for t in graph.tensors},
        "memories": {m.name: m.role for m in graph.memories},
        "nodes": [
            {
                "name": n.name,
                "kind": n.kind,
                "params": {name: _param_data(given) for name, given in n.params.items()},
                "inputs": [_port_data(p) for p in n.inputs],
                "outputs": [_port_data(p) for p in n.outputs],
                "note": n.note,
                "index": n.index,
                "copy_of": n.copy_of,
                "lane": n.lane,
            }
            for n in graph.nodes
        ],
        "channels": [
            {"source": c.source, "sink": c.sink, "latency": c.latency, "depth": c.depth}
            for c in graph.channels
        ],
    }


def _param_data(given: object) -> object:
    if isinstance(given, dict):
        # JSON has no infinities.
        return {name: str(n) if n in _INFINITIES.values() else n for name, n in given.items()}
    return given.name if isinstance(given, ValueType) else given


def _param(given: object) -> object:
    if isinstance(given, dict):
        return {name: _INFINITIES.get(n, n) if isinstance(n, str) else n for name, n in given.items()}
    return given


def _port_data(port: Port) -> dict[str, object]:
    stream = port.stream
    shape: dict[str, object] = {"shape": stream.payload.shape} if stream.payload.shape else {}
    if stream.payload.element is not None:
        shape["value"] = stream.payload.element.name
    return {"name": port.name, "kind": stream.kind, **shape, "depth": stream.depth}


def _port(data: dict[str, Any]) -> Port:
    element = value_type(data["value"]) if "value" in data else None
    payload = Payload(StreamKind(data["kind"]), element, tuple(data.get("shape", ())))
    return Port(data["name"], Stream(payload, data["depth"]))


def _design(data: dict[str, Any]) -> Design:
    memories = {m["name"]: m for m in data["memories"]}
    tensors = {t["name"]: t for t in data["tensors"]}
    value = value_type(data["value"])
    return Design(
        name=data["name"],
        value=value,
        regions=tuple(_graph(r, value, data["extents"], memories, tensors) for r in data["regions"]),
        memories=tuple(_memory(m, m["role"]) for m in memories.values()),
        tensors=tuple(_tensor(t, t["role"]) for t in tensors.values()),
        extents=data["extents"],
        sequence=_steps(data["sequence"]),
        fabrics=tuple(tuple(map(int, group)) for group in data.get("fabrics", ())),
        shared_nodes=tuple(
            {int(f): str(name) for f, name in users} for users in data.get("shared_nodes", ())
        ),
        fixed=tuple(map(str, data.get("fixed", ()))),
    )


def _steps(data: list[dict[str, Any]]) -> Steps:
    return tuple(map(_step, data))


def _step(data: dict[str, Any]) -> Step:
    match data:
        case {"run": int(region)}:
            return Run(region)
        case {"repeat": str(index), "extent": str(extent), "body": list(body)}:
            return Repeat(index, extent, _steps(body))
        case {"parallel": list(bodies)}:
            return Parallel(tuple(map(_steps, bodies)))
    raise ValueError("a step of the sequence")


def _graph(
    data: dict[str, Any],
    value: ValueType,
    extents: dict[str, int],
    memories: dict[str, Any],
    tensors: dict[str, Any],
) -> Graph:
    return Graph(
        name=data["name"],
        value=value,
        nodes=tuple(
            Node(
                name=n["name"],
                kind=n["kind"],
                params=spec_of(n["kind"]).read({name: _param(given) for name, given in n["params"].items()}),
                inputs=tuple(_port(p) for p in n["inputs"]),
                outputs=tuple(_port(p) for p in n["outputs"]),
                note=n["note"],
                index=n["index"],
                copy_of=n["copy_of"],
                lane=tuple((index, number) for index, number in n["lane"]),
            )
            for n in data["nodes"]
        ),
        channels=tuple(
            Channel(Endpoint(*c["source"]), Endpoint(*c["sink"]), c["latency"], c["depth"])
            for c in data["channels"]
        ),
        memories=tuple(_memory(memories[name], role) for name, role in data["memories"].items()),
        tensors=tuple(_tensor(tensors[name], role) for name, role in data["tensors"].items()),
        extents={index: extents[index] for index in data["extents"]},
    )


def _memory(data: dict[str, Any], role: str) -> Memory:
    value = None if data["value"] is None else value_type(data["value"])
    block = tuple(data.get("block", ()))
    return Memory(**{**data, "role": MemoryRole(role), "value": value, "block": block})


def _tensor(data: dict[str, Any], role: str) -> TensorBinding:
    return TensorBinding(
        name=data["name"],
        role=MemoryRole(role),
        format=data["format"],
        indices=tuple(data["indices"]),
        shape=tuple(data["shape"]),
        shards=data["shards"],
        alias_of=data["alias_of"],
        rows=tuple(data.get("rows", ())),
        block_counts=tuple(data.get("block_counts", ())),
        is_step=data.get("is_step", False),
    )
