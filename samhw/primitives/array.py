"""array: the values at given references."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Read, Store
from samhw.primitives.step import EMPTY, NONE, RANGE, VAL, Memory, Step, Words, fault, firing
from samhw.spec.array import ARRAY

__all__ = ["Array"]


def _load() -> Step:
    wait = firing(1)
    take = firing(1, 1, 1)
    beyond = fault(RANGE, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head == VAL:
            r = data[0]
            if r >= len(memory[0]):
                return beyond
            out_kind[0] = VAL
            out_data[0] = memory[0][r]
        elif head == EMPTY:
            out_kind[0] = VAL
            out_data[0] = 0
        else:
            out_kind[0] = head
            out_data[0] = data[0]
        return take

    return step


class Array(Model):
    """The value array."""

    spec = ARRAY

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        vals = (Store(Place.MEMORY, node.params["vals"]),)
        reads = (Read(0, output=0, port=0),)
        return ActorNetwork((Actor("load", _load(), ("ref",), ("val",), memory=vals, reads=reads),))
