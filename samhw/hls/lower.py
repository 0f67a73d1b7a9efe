"""From a design to an HLS program: streams for channels, copies for fan-outs, processes for actors,
and one function for regions that differ in arguments alone."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from samhw.errors import InputError
from samhw.graph import Arch, Design, Graph, Node, Repeat, validate_design
from samhw.graph.fabrics import immediates_of
from samhw.graph.sequence import walk
from samhw.hls.cpp import top_name
from samhw.hls.program import HlsProgram, HlsRegion
from samhw.hls.region_builder import RegionBuilder
from samhw.primitives import role

__all__ = [
    "arguments_by",
    "check_sequence",
    "functions_of",
    "lower",
    "lower_node",
    "plain",
]


# The processes of each primitive: the functions of the library that do its actors' work, and their streams.
#
# A primitive has the actors and internal channels of docs/primitives.md, with their depths, so that no design
# lacks room that the graph's simulation has. Only the vector reducers differ: see their folder.


def lower_node(to: RegionBuilder, node: Node) -> None:
    """Adds the processes of a node, by the `lower` of its kind; a kind without one is a plain process."""
    to.home = node.kind
    hls = role(node.kind, "hls")
    if hls is None:
        plain(to, node)
    else:
        hls.lower(to, node)


def plain(to: RegionBuilder, node: Node, *template: str, function: str = "") -> None:
    """The one process of a node, which gets the inputs, the outputs, and the extents that it needs. Of
    template arguments it gets its number and these."""
    inputs = tuple(to.input(node, port.name) for port in node.inputs)
    outputs = {port.name: to.output(node, port.name) for port in node.outputs}
    writes = tuple(outputs.values())
    to.process(
        function or node.kind,
        *inputs,
        *writes,
        *to.extents_of(node),
        reads=inputs,
        writes=writes,
        template=(to.number(node), *template),
    )
    to.spread(node, outputs)


# Which regions of a fabric call one function: those that differ in arguments alone.


def functions_of(design: Design, off_chip: Collection[str]) -> Iterator[int]:
    """For each region, in the order in which they run, the number of the one whose function it calls: the
    first of its fabric with the same capacities and immediates, which are constants of C++, and both with all
    arrays on the chip."""
    fabrics = {region: group for group in design.groups for region in group}
    leaders: list[int] = []
    for number, region in enumerate(design.turns):
        graph = design.regions[region]
        if not off_chip_free(graph, off_chip):
            yield number
            continue
        alike = (
            leader
            for leader in leaders
            if design.turns[leader] in fabrics[region]
            and _same_constants(design.regions[design.turns[leader]], graph)
        )
        found = next(alike, number)
        if found == number:
            leaders.append(number)
        yield found


def off_chip_free(graph: Graph, off_chip: Collection[str]) -> bool:
    """All arrays of a region lie on the chip."""
    return not any(memory.name in off_chip for memory in graph.memories)


def _same_constants(first: Graph, other: Graph) -> bool:
    for ours, theirs in zip(first.nodes, other.nodes, strict=True):
        own = [first.memory[name].capacity for name in ours.memories.values()]
        if own != [other.memory[name].capacity for name in theirs.memories.values()]:
            return False
        if repr(immediates_of(ours)) != repr(immediates_of(theirs)):
            return False
    return all(arguments_by(first, other, what) is not None for what in ("extents", "repeats"))


def arguments_by(first: Graph, other: Graph, what: str) -> Mapping[str, str] | None:
    """By the index (or the repeat) of the first graph, that which the other one has in its place; None where
    it has several.

    Args:
        what: `extents` or `repeats`, of corresponding nodes.
    """
    found: dict[str, str] = {}
    for ours, theirs in zip(first.nodes, other.nodes, strict=True):
        for name, index in _named(ours, what).items():
            if found.setdefault(index, _named(theirs, what)[name]) != _named(theirs, what)[name]:
                return None
    return found


def _named(node: Node, what: str) -> Mapping[str, str]:
    return node.extents if what == "extents" else node.repeats


MOST_NODES = 1 << 12
"""An error names its node in twelve bits."""

MOST_STREAMS = (1 << 15) - 1
"""The C simulation records an operation, read or write of a stream, in sixteen bits, and two values tell
of iterations."""


def check_sequence(design: Design) -> None:
    """Raises `InputError` for a design with memories in banks."""
    if any(memory.banks for memory in design.memories):
        raise InputError(
            f"Memories of {design.name} lie in banks for several readers, but in Vitis one process alone has "
            "an array of a dataflow region; leave out 'interleave', and each reader has a copy."
        )


def lower(design: Design, arch: Arch, off_chip: Collection[str] = ()) -> HlsProgram:
    """The HLS program of a design: its regions in the order in which they run.

    Args:
        off_chip: the names of the memories whose lines come and go by bursts.

    Raises:
        InputError: for a design that is not sound or too large.
    """
    validate_design(design)
    check_sequence(design)
    regions = tuple(_region(graph, arch, off_chip) for graph in design.runs)
    streams = sum(len(region.streams) for region in regions)
    if streams > MOST_STREAMS:
        raise InputError(
            f"{design.name} has {streams:,} HLS streams, and C simulation counts {MOST_STREAMS:,}; "
            "split the program."
        )
    repeats = any(isinstance(step, Repeat) for step in walk(design.sequence))
    names = [region.name for region in regions]
    if repeats and top_name(design.name) in names:
        # The one region of a program is called like it.
        regions = tuple(replace(region, name=f"{region.name}_region") for region in regions)
    functions = tuple(functions_of(design, off_chip))
    return HlsProgram(top_name(design.name), arch.index_bits, regions, design.sequence, functions)


def _region(graph: Graph, arch: Arch, off_chip: Collection[str]) -> HlsRegion:
    if len(graph.nodes) > MOST_NODES:
        raise InputError(
            f"{graph.name} has {len(graph.nodes):,} nodes, and the HLS status can name {MOST_NODES:,}; "
            "split the program."
        )
    to = RegionBuilder(graph, arch, off_chip)
    for node in _along_the_flow(graph):
        to.note = _note(to, node)
        lower_node(to, node)
    return to.region()


def _note(to: RegionBuilder, node: Node) -> str:
    """The comment above a node's calls: the row, the column and the text of its cell of the fusion table; one
    like it, if the node has none in the table."""
    streams = {port.name: to.input(node, port.name).name for port in node.inputs}
    return node.note or node.spec.note(to.base(node), node.params, streams)


def _along_the_flow(graph: Graph) -> list[Node]:
    """The nodes, producers first; else as they stand in the graph."""
    position = {node.name: n for n, node in enumerate(graph.nodes)}
    names = graph.flow.order(position.__getitem__)
    return [graph.node[name] for name in names]
