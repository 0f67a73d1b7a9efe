"""shift: coordinates moved up by an extent."""

from collections.abc import Callable

from samhw.graph import Arch, Graph, Node
from samhw.primitives.each.model import each
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import EMPTY, PROTOCOL, Memory, fault

__all__ = ["expand"]

_PROTOCOL = fault(PROTOCOL, 1)


def _sum(mask: int) -> Callable[[int, int, Memory], int]:
    def word(kind: int, crd: int, memory: Memory) -> int:
        return _PROTOCOL if kind == EMPTY else crd + memory[0][0] & mask

    return word


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Adds an extent to each coordinate."""
    extent = (Store(Place.EXTENT, node.params["extent"]),)
    step = each(_sum((1 << arch.index_bits) - 1))
    return ActorNetwork((Actor("add", step, ("crd",), ("crd",), memory=extent),))
