"""A design as a drawing, in the DOT language of Graphviz."""

import shutil
import subprocess

from samhw.errors import InputError, RunError
from samhw.graph.design import Design
from samhw.graph.ir import Channel, Graph, Node
from samhw.spec import StreamKind

__all__ = ["to_dot", "to_svg"]

EDGE_STYLE = {
    StreamKind.CRD: "style=solid",
    StreamKind.REF: "style=dashed",
    StreamKind.VAL: 'style=bold, color="black:invis:black"',
}
"""Coordinates solid, references dashed, values as double lines, as in the literature on SAM."""


def to_dot(design: Design) -> str:
    """The DOT text: a box for each node, an edge for each channel with its stream depth as label, and a
    frame around each region if there are several."""
    several = len(design.regions) > 1
    boxes, edges = [], []
    for number, graph in enumerate(design.regions):

        def name(node: str, region: int = number) -> str:
            return _quote(design.label(region, node))

        own = [f"  {name(node.name)} [label={_quote(_node_label(node))}];" for node in graph.nodes]
        if several:
            title = f"    label={_quote(f'region {graph.name}')};"
            own = [f"  subgraph cluster_{number} {{", title, *(f"  {box}" for box in own), "  }"]
        boxes += own
        edges += [
            f"  {name(channel.source.node)} -> {name(channel.sink.node)} [{_edge(graph, channel)}];"
            for channel in graph.channels
        ]
    lines = [
        f"digraph {_quote(design.name)} {{",
        "  node [shape=box, fontname=Helvetica, fontsize=10];",
        "  edge [fontname=Helvetica, fontsize=8];",
        *boxes,
        *edges,
        "}",
    ]
    return "\n".join(lines) + "\n"


def to_svg(design: Design) -> str:
    """The drawing as SVG, laid out by Graphviz; raises `InputError` if its program `dot` is not installed."""
    program = shutil.which("dot")
    if program is None:
        raise InputError(
            "Drawing SVG needs the program 'dot'; install Graphviz (package 'graphviz') or write DOT text."
        )
    run = subprocess.run(
        [program, "-Tsvg"], input=to_dot(design), capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        raise RunError(f"The program 'dot' failed: {run.stderr.strip()}; write DOT text instead.")
    return run.stdout


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _node_label(node: Node) -> str:
    params = ", ".join(f"{key}={value}" for key, value in node.params.items())
    return "\n".join(line for line in (node.name, f"{node.kind}({params})", node.note) if line)


def _edge(graph: Graph, channel: Channel) -> str:
    stream = graph.stream(channel)
    ports = f"taillabel={_quote(channel.source.port)}, headlabel={_quote(channel.sink.port)}"
    return f"{EDGE_STYLE[stream.kind]}, label={_quote(str(stream.depth))}, {ports}"
