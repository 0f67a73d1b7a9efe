"""Designs in the JSON of earlier versions, which had one graph for all regions.

Its nodes had a number, `region`, and where there were several regions, names that began with it: `r1_root`.
Version 2 had no extents at the scanners of levels that store coordinates.
"""

from collections.abc import Iterable
from typing import Any

from samhw.tensors import Format

__all__ = ["BEFORE", "upgraded"]

BEFORE = (2, 3)
"""The versions."""

Json = dict[str, Any]


def upgraded(data: Json) -> Json:
    """The JSON object of such a text as one of the present version.

    Raises `AttributeError`, `KeyError`, `TypeError` or `ValueError` for what is no graph.
    """
    if data["version"] == 2:
        data = {**data, "nodes": [_with_extent(node, data) for node in data["nodes"]]}
    count = 1 + max((node["region"] for node in data["nodes"]), default=0)
    return {
        **{key: data[key] for key in ("name", "value", "extents", "tensors", "memories")},
        "regions": [_region(number, count, data) for number in range(count)],
        "sequence": [{"run": number} for number in range(count)],
    }


def used_memories(node: Json) -> Iterable[str]:
    """The names of the memories that a node reads or writes."""
    return (node["params"][key] for key in ("pos", "crd", "vals") if key in node["params"])


def _with_extent(node: Json, data: Json) -> Json:
    """With the extent of stored coordinates: that of the mode which their memory belongs to."""
    if node["kind"] not in ("scan_compressed", "scan_singleton"):
        return node
    (memory,) = (m for m in data["memories"] if m["name"] == node["params"]["crd"])
    tensors = {tensor["name"]: tensor for tensor in data["tensors"]}
    tensor = tensors[memory["tensor"]]
    level = int(memory["array"].removeprefix("crd"))
    mode = Format.parse(tensor["format"], len(tensor["shape"])).mode_order[level]
    return {**node, "params": {**node["params"], "extent": tensor["indices"][mode]}}


def _region(number: int, count: int, data: Json) -> Json:
    """One of several regions with what its nodes use; or the only one, with everything."""
    nodes = [node for node in data["nodes"] if node["region"] == number]
    names = {node["name"] for node in nodes}
    channels = [channel for channel in data["channels"] if channel["source"][0] in names]
    if count == 1:
        return {
            "name": data["name"],
            "nodes": nodes,
            "channels": channels,
            "memories": {m["name"]: m["role"] for m in data["memories"]},
            "tensors": {t["name"]: t["role"] for t in data["tensors"]},
            "extents": list(data["extents"]),
        }
    written = {name for node in nodes if not node["outputs"] for name in used_memories(node)}
    used = {name for node in nodes for name in used_memories(node)}
    memories = {
        m["name"]: "output" if m["name"] in written else "input"
        for m in data["memories"]
        if m["name"] in used
    }
    roles = {m["tensor"]: memories[m["name"]] for m in data["memories"] if m["name"] in used}
    tensors = {t["name"]: roles[t["name"]] for t in data["tensors"] if t["name"] in roles}
    extents = {node["params"].get("extent") for node in nodes}
    extents |= {index for t in data["tensors"] if t["name"] in tensors for index in t["indices"]}

    def own(name: str) -> str:
        return name.removeprefix(f"r{number}_")

    return {
        "name": f"{data['name']}_{number}",
        "nodes": [{**node, "name": own(node["name"])} for node in nodes],
        "channels": [
            {**c, **{end: [own(c[end][0]), c[end][1]] for end in ("source", "sink")}} for c in channels
        ],
        "memories": memories,
        "tensors": tensors,
        "extents": [index for index in data["extents"] if index in extents],
    }
