"""write_dense: the writer of a dense level, which stores nothing and checks that the fibers are full."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.writer.model import write
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import EMPTY, PROTOCOL, RANGE, Memory, Words, fault

__all__ = ["expand"]

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


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The end of a dense level."""
    extent = (Store(Place.EXTENT, node.params["extent"]),)
    step = write(_coordinate, _full)
    return ActorNetwork((Actor("write", step, ("crd",), (), (0, 0), extent),))
