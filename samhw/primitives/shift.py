"""shift: coordinates moved up by an extent."""

from collections.abc import Callable

from samhw.graph import Arch, Graph, Node
from samhw.primitives.each import each
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import EMPTY, PROTOCOL, Memory, fault
from samhw.spec.shift import SHIFT

__all__ = ["Shift"]

_PROTOCOL = fault(PROTOCOL, 1)


def _sum(mask: int) -> Callable[[int, int, Memory], int]:
    def word(kind: int, crd: int, memory: Memory) -> int:
        return _PROTOCOL if kind == EMPTY else crd + memory[0][0] & mask

    return word


class Shift(Model):
    """Adds an extent to each coordinate."""

    spec = SHIFT

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        step = each(_sum((1 << arch.index_bits) - 1))
        return ActorNetwork((Actor("add", step, ("crd",), ("crd",), memory=extent),))
