"""A program of several regions: a project for each, and the order in which a host runs them."""

import json

from samhw.graph import Design, MemoryRole
from samhw.hls.cpp import comment, project_name, top_name
from samhw.hls.templates import render

__all__ = ["emit_order"]


def emit_order(design: Design) -> dict[str, str]:
    """The texts beside the regions' projects, which lie in folders named after the regions
    (`project_name`): what a host must know to run one kernel after another (`regions.json`), and a Makefile
    and a README for all."""
    origin: dict[str, str] = {}
    regions = []
    for graph in design.runs:
        stored = [t for t in graph.tensors if not t.alias_of]
        inputs = [t.name for t in stored if t.role is MemoryRole.INPUT]
        outputs = [t.name for t in stored if t.role is MemoryRole.OUTPUT]
        regions.append(
            {
                "folder": project_name(graph.name),
                "kernel": top_name(graph.name),
                "inputs": {name: origin.get(name, "host") for name in inputs},
                "outputs": outputs,
            }
        )
        origin |= dict.fromkeys(outputs, project_name(graph.name))
    context = {"program": comment(design.name), "regions": regions}
    return {
        "regions.json": json.dumps(regions, indent=2) + "\n",
        "Makefile": render("project/regions.mk.j2", **context),
        "README.md": render("project/regions.md.j2", **context),
    }
