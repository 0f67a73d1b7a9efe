"""write_val: the writer of a tensor's values."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import (
    CAPACITY,
    COMMITTED,
    DONE,
    NONE,
    PAYLOAD,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)
from samhw.spec.write import WRITE_VAL

__all__ = ["WriteVal"]

VALUES = 1


def _write() -> Step:
    wait = firing(1)
    take = firing(1, 1)
    full = fault(CAPACITY, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head in PAYLOAD:
            n = state[VALUES]
            if n >= len(memory[0]):
                return full
            memory[0][n] = data[0] if head == VAL else 0
            state[VALUES] = n + 1
        elif head == DONE:
            state[COMMITTED] = 1
        return take

    return step


class WriteVal(Model):
    """Writes the payloads in the order of the stream."""

    spec = WRITE_VAL

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        vals = (Store(Place.MEMORY, node.params["vals"]),)
        return ActorNetwork((Actor("write", _write(), ("val",), (), (0, 0), vals, {0: VALUES}),))
