"""What the hardware of a region could do at best, to hold what it did against (Williams, Waterman and
Patterson, 2009)."""

from dataclasses import dataclass

from samhw.graph import Arch, Graph

__all__ = ["Roof", "roof"]


@dataclass(frozen=True)
class Roof:
    """The limits of a design, by cycle."""

    operations: int
    """If each node that computes did what a payload costs in every cycle."""
    bytes: float
    """If each port to a memory moved all that it can."""


def roof(graph: Graph, arch: Arch) -> Roof:
    """The limits of a region's graph."""
    moved = 0.0
    for node in graph.nodes:
        for param, name in node.memories.items():
            use = node.spec.memories[param]
            payload = graph.stored(graph.memory[name])
            moved += payload.width(arch.index_bits) / 8 * (1 if use.written else use.reads)
    works = (node.spec.work(node.params) for node in graph.nodes)
    return Roof(sum(work.each for work in works if work), moved)
