"""Which regions of a fabric call one function: those that differ in arguments alone."""

from collections.abc import Collection, Iterator, Mapping

from samhw.graph import Design, Graph, Node
from samhw.graph.fabrics import immediates_of

__all__ = ["arguments_by", "functions_of"]


def functions_of(design: Design, off_chip: Collection[str]) -> Iterator[int]:
    """For each region, in the order in which they run, the number of the one whose function it calls: the
    first of its fabric with the same capacities and immediates, which are constants of C++, and with all
    arrays on the chip."""
    fabrics = {region: group for group in design.groups for region in group}
    leaders: list[int] = []
    for number, region in enumerate(design.turns):
        graph = design.regions[region]
        alike = (
            leader
            for leader in leaders
            if design.turns[leader] in fabrics[region]
            and off_chip_free(graph, off_chip)
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
