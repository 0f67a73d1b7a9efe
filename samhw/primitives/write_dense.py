"""write_dense: the writer of a dense level, which stores nothing and checks that the fibers are full."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import (
    COMMITTED,
    DONE,
    EMPTY,
    NONE,
    PROTOCOL,
    RANGE,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)
from samhw.spec.write import WRITE_DENSE

__all__ = ["WriteDense"]

NEXT = 1


def _write() -> Step:
    wait = firing(1)
    take = firing(1, 1)
    beyond = fault(RANGE, 1)
    protocol = fault(PROTOCOL, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        extent = memory[0][0]
        if head == VAL:
            if data[0] != state[NEXT] or data[0] >= extent:
                return beyond
            state[NEXT] += 1
        elif head == STOP and data[0] & 15 == 0:
            if state[NEXT] != extent:
                return beyond
            state[NEXT] = 0
        elif head == DONE:
            state[COMMITTED] = 1
        elif head == EMPTY:
            return protocol
        return take

    return step


class WriteDense(Model):
    """The end of a dense level."""

    spec = WRITE_DENSE

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        return ActorNetwork((Actor("write", _write(), ("crd",), (), (0, 0), extent),))
