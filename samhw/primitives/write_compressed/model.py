"""write_compressed: the level writer of a compressed level."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.writer.model import append, write
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import EMPTY, PROTOCOL, Memory, Words, fault

__all__ = ["expand"]

POS, CRD = 0, 1
POSITIONS, COORDINATES = 1, 2
START = (0, 1, 0)
"""Memories are zero here, so that pos[0] need not be written; its word counts from the start."""

_PROTOCOL = fault(PROTOCOL, 1)


def _coordinate(kind: int, data: int, state: Words, memory: Memory) -> int:
    if kind == EMPTY:
        return _PROTOCOL
    return append(memory[CRD], data, state, COORDINATES)


def _position(state: Words, memory: Memory) -> int:
    return append(memory[POS], state[COORDINATES], state, POSITIONS)


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Writes a pos and a crd array."""
    memory = (Store(Place.MEMORY, node.params["pos"]), Store(Place.MEMORY, node.params["crd"]))
    written = {POS: POSITIONS, CRD: COORDINATES}
    step = write(_coordinate, _position)
    return ActorNetwork((Actor("write", step, ("crd",), (), START, memory, written),))
