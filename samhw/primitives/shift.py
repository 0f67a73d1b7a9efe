"""shift: coordinates moved up by an extent."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import EMPTY, NONE, PROTOCOL, VAL, Memory, Step, Words, fault, firing
from samhw.spec.shift import SHIFT

__all__ = ["Shift"]


def _add(mask: int) -> Step:
    wait = firing(1)
    take = firing(1, 1, 1)
    protocol = fault(PROTOCOL, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head == EMPTY:
            return protocol
        out_kind[0] = head
        out_data[0] = data[0] + memory[0][0] & mask if head == VAL else data[0]
        return take

    return step


class Shift(Model):
    """Adds an extent to each coordinate."""

    spec = SHIFT

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        step = _add((1 << arch.index_bits) - 1)
        return ActorNetwork((Actor("add", step, ("crd",), ("crd",), memory=extent),))
