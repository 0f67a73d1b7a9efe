"""write_compressed: the level writer of a compressed level."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import (
    CAPACITY,
    COMMITTED,
    DONE,
    EMPTY,
    NONE,
    PROTOCOL,
    STOP,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)
from samhw.spec.write import WRITE_COMPRESSED

__all__ = ["WriteCompressed"]

POS, CRD = 0, 1
POSITIONS, COORDINATES = 1, 2
START = (0, 1, 0)
"""pos[0] is 0 and never written, so its word counts from the start."""


def _write() -> Step:
    wait = firing(1)
    take = firing(1, 1)
    full = fault(CAPACITY, 1)
    protocol = fault(PROTOCOL, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        n = state[COORDINATES]
        if head == VAL:
            if n >= len(memory[CRD]):
                return full
            memory[CRD][n] = data[0]
            state[COORDINATES] = n + 1
        elif head == STOP and data[0] & 15 == 0:
            next_fiber = state[POSITIONS]
            if next_fiber >= len(memory[POS]):
                return full
            memory[POS][next_fiber] = n
            state[POSITIONS] = next_fiber + 1
        elif head == DONE:
            state[COMMITTED] = 1
        elif head == EMPTY:
            return protocol
        return take

    return step


class WriteCompressed(Model):
    """Writes a pos and a crd array."""

    spec = WRITE_COMPRESSED

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        memory = (Store(Place.MEMORY, node.params["pos"]), Store(Place.MEMORY, node.params["crd"]))
        written = {POS: POSITIONS, CRD: COORDINATES}
        return ActorNetwork((Actor("write", _write(), ("crd",), (), START, memory, written),))
