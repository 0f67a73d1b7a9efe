"""A design as a drawing: in the DOT language of Graphviz, and laid out by Graphviz."""

import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from samhw.errors import InputError, RunError
from samhw.graph.design import Design
from samhw.graph.ir import Channel, Graph, MemoryRole, Node
from samhw.graph.spec import StreamKind

__all__ = ["DRAWINGS", "draw", "draw_text", "find_drawer", "to_dot", "to_svg"]

EDGE_STYLE = {
    StreamKind.CRD: "style=solid",
    StreamKind.REF: "style=dashed",
    StreamKind.VAL: 'style=bold, color="black:invis:black"',
}
"""Coordinates solid, references dashed, values as double lines, as in the literature on SAM."""

COLOURS = {
    "scans a level": "#BFE3F7",
    "reads values": "#D5EBCB",
    "joins coordinates": "#FBC97F",
    "computes": "#F6F0A0",
    "reduces a level": "#F5B49B",
    "writes a result": "#86CDB0",
    "distributes or collects lanes": "#D9AFCD",
    "repeats, holds or drops": "#F2F2F2",
}
"""By what a node does. The colours differ in lightness too, and black letters stand out on all of them."""


def to_dot(design: Design) -> str:
    """The DOT text: a box for each node, in the colour of what it does; an edge for each channel, with its
    stream depth and its ports as label; and a legend. Copies in lanes are drawn as one.

    If there are several regions, each has a frame. A tensor that passes from one to another is a cylinder
    between what writes it and what reads it.
    """
    several = len(design.regions) > 1
    boxes, edges = [], []
    for number, graph in enumerate(design.regions):
        own = list(_boxes(design, number))
        if several:
            title = f"    label={_quote(f'region {graph.name}')}; style=rounded; color=gray40;"
            own = [f"  subgraph cluster_{number} {{", title, *(f"  {box}" for box in own), "  }"]
        boxes += own
        edges += [
            f"  {_name(design, number, source)} -> {_name(design, number, sink)} [{_edge(graph, channel)}];"
            for (source, sink, *_), channel in _folded(graph).items()
        ]
    lines = [
        f"digraph {_quote(design.name)} {{",
        "  node [shape=box, style=filled, fontname=Helvetica, fontsize=10];",
        "  edge [fontname=Helvetica, fontsize=8];",
        "  graph [fontname=Helvetica, fontsize=11];",
        *boxes,
        *edges,
        *(_passed(design) if several else ()),
        *_legend(design, several),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _boxes(design: Design, number: int) -> Iterator[str]:
    """The nodes of a region."""
    graph = design.regions[number]
    copies = Counter(node.copy_of or node.name for node in graph.nodes)
    drawn = {node.copy_of or node.name: node for node in reversed(graph.nodes)}
    for base, count in copies.items():
        label = _quote(_node_label(drawn[base], base, count))
        colour = COLOURS[_deed(drawn[base])]
        yield f'  {_name(design, number, base)} [label={label}, fillcolor="{colour}"];'


def _deed(node: Node) -> str:
    """What a node does, of `COLOURS`, by its spec."""
    spec, params = node.spec, node.params
    uses = spec.memories.values()
    deeds = {
        "distributes or collects lanes": spec.distribution(params) is not None,
        "writes a result": not node.outputs,
        "reduces a level": spec.reduction(params) is not None,
        "joins coordinates": bool(spec.joins(params)),
        "computes": spec.work(params) is not None,
        "scans a level": spec.scans,
        "reads values": bool(uses),
    }
    return next((deed for deed, does in deeds.items() if does), "repeats, holds or drops")


def _passed(design: Design) -> Iterator[str]:
    """The tensors that pass between regions, each with what writes and what reads it."""
    buffers = {name: m.tensor for name, m in design.memory.items() if m.role is MemoryRole.BUFFER}
    for tensor in dict.fromkeys(buffers.values()):
        yield f"  {_quote(f'tensor {tensor}')} [label={_quote(tensor)}, shape=cylinder, fillcolor=white];"
    found: dict[str, None] = {}
    for number, node in design.nodes:
        for param, memory in node.memories.items():
            if memory in buffers:
                ends = [_quote(f"tensor {buffers[memory]}"), _name(design, number, node.copy_of or node.name)]
                if node.spec.memories[param].written:
                    ends.reverse()
                found[" -> ".join(ends)] = None
    yield from (f"  {edge} [color=gray40, penwidth=2];" for edge in found)


def _legend(design: Design, several: bool) -> Iterator[str]:
    """What colours, lines and numbers mean, of those that there are."""
    deeds = {_deed(node) for _, node in design.nodes}
    kinds = {graph.stream(channel).kind for graph in design.regions for channel in graph.channels}
    rows = [f'<td bgcolor="{colour}">{deed}</td>' for deed, colour in COLOURS.items() if deed in deeds]
    rows += [f"<td>{words}</td>" for kind, words in _LINES.items() if kind in kinds]
    rows.append("<td>on a line: the depth of its stream, and its ports</td>")
    if several:
        rows.append("<td>cylinder: a tensor that passes between regions</td>")
    cells = "".join(f"<tr>{row}</tr>" for row in ("<td><b>legend</b></td>", *rows))
    table = f'<table border="0" cellborder="1" cellspacing="0" cellpadding="5">{cells}</table>'
    yield f'  "the legend" [shape=plain, style=solid, label=<{table}>];'


_LINES = {
    StreamKind.CRD: "solid line: coordinates",
    StreamKind.REF: "dashed line: references",
    StreamKind.VAL: "double line: values",
}


def _name(design: Design, region: int, node: str) -> str:
    return _quote(design.label(region, node))


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
    # One label, for which Graphviz makes room; those at the ends of a line lie on each other.
    ports = dict.fromkeys((channel.source.port, channel.sink.port))
    label = f" {stream.depth}: {' to '.join(ports)} "
    return f"{EDGE_STYLE[stream.kind]}, label={_quote(label)}"


DRAWINGS = ("svg", "png", "pdf")
"""The forms in which Graphviz draws a design."""

# In a process of its own: the library prints what it likes, and cannot be interrupted.
_PYGRAPHVIZ = (
    "import sys, pygraphviz; "
    "drawing = pygraphviz.AGraph(string=sys.stdin.buffer.read().decode()); "
    "sys.stdout.buffer.write(drawing.draw(format=sys.argv[1], prog='dot'))"
)


def draw(design: Design, form: str) -> bytes:
    """The drawing of a design in one of `DRAWINGS`; raises as `draw_text` does."""
    return draw_text(to_dot(design), form)


def draw_text(text: str, form: str) -> bytes:
    """What a text in the DOT language draws, in one of `DRAWINGS`, by Graphviz's program `dot`, or else by
    the package `pygraphviz`, which brings Graphviz with it.

    Raises:
        InputError: if neither is installed, or the package lacks a library of the system.
        RunError: if it fails.
    """
    run = subprocess.run(find_drawer(form), input=text.encode(), capture_output=True, check=False)
    if run.returncode != 0:
        reason = run.stderr.decode(errors="replace").strip()
        if "ImportError: " in reason:
            missing = reason.rpartition("ImportError: ")[2]
            raise InputError(
                f"The package 'pygraphviz' cannot be loaded ({missing}); install Graphviz's program 'dot' "
                "(package 'graphviz'), or write DOT text, as to graph.dot."
            )
        raise RunError(f"The program 'dot' failed: {reason}; write DOT text instead.")
    return run.stdout


def find_drawer(form: str) -> Sequence[str]:
    """The command that draws DOT text; raises `InputError` if none is installed."""
    if program := shutil.which("dot"):
        return [program, f"-T{form}"]
    if importlib.util.find_spec("pygraphviz"):
        return [sys.executable, "-c", _PYGRAPHVIZ, form]
    raise InputError(
        f"Drawing {form.upper()} needs Graphviz; install its program 'dot' (package 'graphviz'), or run pip "
        "install 'samhw[graph]', or write DOT text, as to graph.dot."
    )


def to_svg(design: Design) -> str:
    """The drawing as SVG; raises as `draw` does."""
    return draw(design, "svg").decode()
