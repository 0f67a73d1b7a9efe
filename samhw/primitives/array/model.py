"""array: the values at given references."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.each.model import each
from samhw.sim.network import Actor, ActorNetwork, Place, Read, Store
from samhw.sim.step import EMPTY, NONE, PAYLOAD, RANGE, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]

_BEYOND = fault(RANGE, 1)


def _load(kind: int, ref: int, memory: Memory) -> int:
    if kind == EMPTY:
        return 0
    return memory[0][ref] if ref < len(memory[0]) else _BEYOND


def _load_block(words: int) -> Step:
    """As `each` of `_load`, of places of several words."""
    wait = firing(1)
    take = firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        first = data[0] * words
        if head == VAL and first >= len(memory[0]):
            return _BEYOND
        if head in PAYLOAD:
            n = 0
            while n < words:
                out_data[n] = memory[0][first + n] if head == VAL else 0
                n += 1
            out_kind[0] = VAL
        else:
            out_kind[0] = head
            out_data[0] = data[0]
        return take

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The value array."""
    vals = (Store(Place.MEMORY, node.params["vals"]),)
    reads = (Read(0, output=0, port=0),)
    words = graph.given(node, "val").words
    step, widths = (each(_load), {}) if words == 1 else (_load_block(words), {"val": words})
    load = Actor("load", step, ("ref",), ("val",), memory=vals, widths=widths, reads=reads)
    return ActorNetwork((load,))
