"""write_dense: the writer of a dense level, which stores nothing and checks that the fibers are full."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import EMPTY, PROTOCOL, RANGE, Memory, Words, fault
from samhw.primitives.write import write
from samhw.spec.write import WRITE_DENSE

__all__ = ["WriteDense"]

NEXT = 1

_PROTOCOL = fault(PROTOCOL, 1)
_BEYOND = fault(RANGE, 1)


def _coordinate(kind: int, data: int, state: Words, memory: Memory) -> int:
    if kind == EMPTY:
        return _PROTOCOL
    if data != state[NEXT] or data >= memory[0][0]:
        return _BEYOND
    state[NEXT] += 1
    return 0


def _full(state: Words, memory: Memory) -> int:
    if state[NEXT] != memory[0][0]:
        return _BEYOND
    state[NEXT] = 0
    return 0


class WriteDense(Model):
    """The end of a dense level."""

    spec = WRITE_DENSE

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        step = write(_coordinate, _full)
        return ActorNetwork((Actor("write", step, ("crd",), (), (0, 0), extent),))
