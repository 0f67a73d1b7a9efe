"""write_val: the writer of a tensor's values."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.writer.model import append, write
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import CAPACITY, COMMITTED, DONE, NONE, PAYLOAD, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]

VALUES = 1


def _value(kind: int, data: int, state: Words, memory: Memory) -> int:
    return append(memory[0], data if kind == VAL else 0, state, VALUES)


def _write_block(words: int) -> Step:
    """As `write`, of blocks of this many words."""
    wait = firing(1)
    take = firing(1, 1)
    full = fault(CAPACITY, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head == DONE:
            state[COMMITTED] = 1
        if head in PAYLOAD:
            first = state[VALUES]
            if first >= len(memory[0]):
                return full
            n = 0
            while n < words:
                memory[0][first + n] = data[n] if head == VAL else 0
                n += 1
            state[VALUES] = first + words
        return take

    return step


def _nothing(state: Words, memory: Memory) -> int:
    return 0


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Writes the payloads in the order of the stream."""
    vals = (Store(Place.MEMORY, node.params["vals"]),)
    words = graph.taken(node, "val").words
    step, widths = (write(_value, _nothing), {}) if words == 1 else (_write_block(words), {"val": words})
    return ActorNetwork((Actor("write", step, ("val",), (), (0, 0), vals, {0: VALUES}, widths=widths),))
