"""The header library of HLS programs: the headers that they need, for the types and arities that they use."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samhw.graph import Graph, Node
from samhw.graph.numerics import Float, ValueType
from samhw.hls.off_chip import BURST, LATENCY, OUTSTANDING
from samhw.hls.program import HlsProgram
from samhw.primitives import role

__all__ = ["header_template", "library", "operation_headers", "render"]

if TYPE_CHECKING:
    import jinja2


FOLDER = Path(__file__).parent.parent / "hls_templates"

_OF_FOLDERS = "primitives/{}/template.hpp.j2"


@cache
def _environment() -> "jinja2.Environment":
    import jinja2  # Takes a tenth of a second to be imported, and a simulation needs none.

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([FOLDER, FOLDER.parent]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **context: Any) -> str:
    """The text of a template, named by its path in the folder; a name that the context lacks is an error."""
    return _environment().get_template(template).render(**context)


def header_template(header: str) -> str:
    """The template of a header: that of a folder of `samhw.primitives`, or one that all kernels share."""
    own = _OF_FOLDERS.format(header)
    return own if (FOLDER.parent / own).exists() else f"library/{header}.hpp.j2"


_ALWAYS = ("csim", "memory", "status", "token", "values")

_INCLUDE = re.compile(r'^#include "(\w+)\.hpp"', re.MULTILINE)

Uses = Mapping[str, Sequence[tuple[Graph, Node]]]
"""The nodes of each kind."""


def library(programs: Sequence[HlsProgram], graphs: Sequence[Graph]) -> dict[str, str]:
    """The texts of the headers by file name: those of the processes, and what these include.

    Args:
        programs: one, or several of one value type and index width that share a library.
        graphs: the graphs of all of their regions.
    """
    context = _context(programs, graphs)
    processes = [process for program in programs for process in program.processes]
    missing = {*_ALWAYS, *(process.header for process in processes)}
    texts: dict[str, str] = {}
    while missing:
        header = missing.pop()
        texts[header] = render(header_template(header), **context)
        missing |= {*_INCLUDE.findall(texts[header])} - texts.keys()
    return {f"{name}.hpp": texts[name] for name in sorted(texts)}


def operation_headers(values: Iterable[ValueType], *, converts: bool) -> list[str]:
    """The headers with the operations of some value types."""
    kinds = list(values)
    if converts:
        return ["convert", "fixed", "float"]
    return ["fixed"] * any(not isinstance(k, Float) for k in kinds) + ["float"] * any(
        isinstance(k, Float) for k in kinds
    )


def _context(programs: Sequence[HlsProgram], graphs: Sequence[Graph]) -> dict[str, Any]:
    """What the templates are rendered for."""
    uses: dict[str, list[tuple[Graph, Node]]] = {}
    for graph in graphs:
        for node in graph.nodes:
            uses.setdefault(node.kind, []).append((graph, node))
    context = _context_of_kinds(uses)
    nodes = [(graph, node) for graph in graphs for node in graph.nodes]
    values = {
        value for graph, n in nodes for value in (graph.value, graph.operand_type(n), graph.result_type(n))
    }
    processes = [process for program in programs for process in program.processes]
    payloads = [port.stream.payload for _, node in nodes for port in (*node.inputs, *node.outputs)]
    return {
        **context,
        "index_bits": programs[0].index_bits,
        "shares": any(program.shares for program in programs),
        "beside": sorted({n for program in programs for n in program.beside}),
        "writers": sorted({len(r.errors) for p in programs if p.is_sequence for r in p.regions}),
        "kernels": sorted(
            {(len(r.errors), len(r.counts)) for p in programs if not p.is_sequence for r in p.regions}
        ),
        "fanouts": sorted({len(p.writes) for p in processes if p.function == "copy"}),
        "functions": {process.function for process in processes},
        "burst": BURST,
        "outstanding": OUTSTANDING,
        "latency": LATENCY,
        "most_tokens": max((m.words for graph in graphs for m in graph.memories), default=1),
        "blocks": context.get("blocks", False) or any(p.words > 1 for p in payloads),
        "operations_headers": operation_headers(values, converts=context.get("converts", False)),
    }


def _context_of_kinds(uses: Uses) -> dict[str, Any]:
    """How many ports the nodes of each kind have, and what the kinds say by themselves."""
    ports: dict[str, list[tuple[int, int]]] = defaultdict(list)
    context: dict[str, Any] = {"ports": ports}
    for kind, nodes in uses.items():
        ports[kind] = sorted({(len(node.inputs), len(node.outputs)) for _, node in nodes})
        hls = role(kind, "hls")
        if hls is not None and hasattr(hls, "context"):
            context |= hls.context(nodes)
    return context
