"""A design as a drawing, in the DOT language of Graphviz."""

import shutil
import subprocess
from collections import Counter

from samhw.errors import InputError, RunError
from samhw.graph.design import Design
from samhw.graph.ir import Channel, Graph, Node
from samhw.spec import StreamKind

__all__ = ["DRAWINGS", "draw", "to_dot", "to_svg"]

DRAWINGS = ("svg", "png", "pdf")
"""The forms in which Graphviz draws a design."""

EDGE_STYLE = {
    StreamKind.CRD: "style=solid",
    StreamKind.REF: "style=dashed",
    StreamKind.VAL: 'style=bold, color="black:invis:black"',
}
"""Coordinates solid, references dashed, values as double lines, as in the literature on SAM."""


def to_dot(design: Design) -> str:
    """The DOT text: a box for each node, an edge for each channel with its stream depth as label, and a
    frame around each region if there are several. Copies in lanes are drawn as one."""
    several = len(design.regions) > 1
    boxes, edges = [], []
    for number, graph in enumerate(design.regions):

        def name(node: str, region: int = number) -> str:
            return _quote(design.label(region, node))

        copies = Counter(node.copy_of or node.name for node in graph.nodes)
        drawn = {node.copy_of or node.name: node for node in reversed(graph.nodes)}
        own = [
            f"  {name(base)} [label={_quote(_node_label(drawn[base], base, count))}];"
            for base, count in copies.items()
        ]
        if several:
            title = f"    label={_quote(f'region {graph.name}')};"
            own = [f"  subgraph cluster_{number} {{", title, *(f"  {box}" for box in own), "  }"]
        boxes += own
        edges += [
            f"  {name(source)} -> {name(sink)} [{_edge(graph, channel)}];"
            for (source, sink, *_), channel in _folded(graph).items()
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


def draw(design: Design, form: str) -> bytes:
    """The drawing in one of `DRAWINGS`, laid out by Graphviz.

    Raises:
        InputError: if Graphviz's program `dot` is not installed.
        RunError: if it fails.
    """
    program = shutil.which("dot")
    if program is None:
        raise InputError(
            f"Drawing {form.upper()} needs the program 'dot'; install Graphviz (package 'graphviz') or write "
            "DOT text, as to graph.dot."
        )
    run = subprocess.run(
        [program, f"-T{form}"], input=to_dot(design).encode(), capture_output=True, check=False
    )
    if run.returncode != 0:
        reason = run.stderr.decode(errors="replace").strip()
        raise RunError(f"The program 'dot' failed: {reason}; write DOT text instead.")
    return run.stdout


def to_svg(design: Design) -> str:
    """The drawing as SVG; raises as `draw` does."""
    return draw(design, "svg").decode()


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _folded(graph: Graph) -> dict[tuple[str, ...], Channel]:
    """The channels that are drawn, by the nodes at their ends and their ports: those of all lanes as one."""
    folded: dict[tuple[str, ...], Channel] = {}
    for channel in graph.channels:
        source, sink = graph.node[channel.source.node], graph.node[channel.sink.node]
        ports = [
            "" if node.spec.distribution(node.params) else end.port
            for node, end in ((source, channel.source), (sink, channel.sink))
        ]
        folded.setdefault((source.copy_of or source.name, sink.copy_of or sink.name, *ports), channel)
    return folded


def _node_label(node: Node, name: str, count: int) -> str:
    name += f" ({count} lanes)" if count > 1 else ""
    params = ", ".join(f"{key}={value}" for key, value in node.params.items())
    return "\n".join(line for line in (name, f"{node.kind}({params})", node.note) if line)


def _edge(graph: Graph, channel: Channel) -> str:
    stream = graph.stream(channel)
    ports = f"taillabel={_quote(channel.source.port)}, headlabel={_quote(channel.sink.port)}"
    return f"{EDGE_STYLE[stream.kind]}, label={_quote(str(stream.depth))}, {ports}"
