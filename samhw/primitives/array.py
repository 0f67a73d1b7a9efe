"""array: the values at given references."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.each import each
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Read, Store
from samhw.primitives.step import EMPTY, RANGE, Memory, fault
from samhw.spec.array import ARRAY

__all__ = ["Array"]

_BEYOND = fault(RANGE, 1)


def _load(kind: int, ref: int, memory: Memory) -> int:
    if kind == EMPTY:
        return 0
    return memory[0][ref] if ref < len(memory[0]) else _BEYOND


class Array(Model):
    """The value array."""

    spec = ARRAY

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        vals = (Store(Place.MEMORY, node.params["vals"]),)
        reads = (Read(0, output=0, port=0),)
        return ActorNetwork((Actor("load", each(_load), ("ref",), ("val",), memory=vals, reads=reads),))
