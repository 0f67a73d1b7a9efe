"""write_at: the writer of the values of a step."""

from samhw.graph import Arch, Graph, Node
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import COMMITTED, DONE, NONE, PAYLOAD, PROTOCOL, RANGE, VAL, Memory, Words, fault, firing

__all__ = ["expand"]

_BOTH = 0b11
_WAIT = firing(_BOTH)
_TAKE = firing(_BOTH, _BOTH)
_BEYOND = fault(RANGE, _BOTH)
_PROTOCOL = fault(PROTOCOL, _BOTH)
_WORDS = 1


def _step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
    ref = kind[0]
    val = kind[1]
    if ref == NONE or val == NONE:
        return _WAIT
    if ref == VAL and val in PAYLOAD:
        if data[0] >= len(memory[0]):
            return _BEYOND
        word = 0
        if val == VAL:
            word = data[1]
        memory[0][data[0]] = word
        if data[0] >= state[_WORDS]:
            state[_WORDS] = data[0] + 1
        return _TAKE
    if ref == val and data[0] == data[1] and ref not in PAYLOAD:
        if ref == DONE:
            state[COMMITTED] = 1
        return _TAKE
    return _PROTOCOL


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Writes each value at the place that its reference names."""
    vals = (Store(Place.MEMORY, node.params["vals"]),)
    writer = Actor("write", _step, ("ref", "val"), (), (0, 0), vals, {0: _WORDS}, placed={0: 0})
    return ActorNetwork((writer,))
