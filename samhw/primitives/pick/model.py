"""pick: the references of coordinates that a memory holds, in a dense level."""

from samhw.graph import Arch, Graph, Node
from samhw.sim.network import Actor, ActorNetwork, Place, Read, Store
from samhw.sim.step import EMPTY, NONE, PAYLOAD, PROTOCOL, RANGE, VAL, Memory, Words, fault, firing

__all__ = ["expand"]

_BOTH = 0b11
_WAIT = firing(_BOTH)
_TAKE = firing(_BOTH, _BOTH, 1)
_BEYOND = fault(RANGE, _BOTH)
_PROTOCOL = fault(PROTOCOL, _BOTH)


def _step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
    at = kind[0]
    ref = kind[1]
    if at == NONE or ref == NONE:
        return _WAIT
    if at in PAYLOAD and ref in PAYLOAD:
        out_kind[0] = EMPTY
        out_data[0] = 0
        if at == VAL:
            if data[0] >= len(memory[0]):
                return _BEYOND
            crd = memory[0][data[0]]
            extent = memory[1][0]
            if crd >= extent:
                return _BEYOND
            if ref == VAL:
                out_kind[0] = VAL
                out_data[0] = data[1] * extent + crd
        return _TAKE
    if at == ref and data[0] == data[1] and at not in PAYLOAD:
        out_kind[0] = at
        out_data[0] = data[0]
        return _TAKE
    return _PROTOCOL


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """r * N + crd[p] for each pair of a reference p into the memory and a reference r above the level."""
    stores = (Store(Place.MEMORY, node.params["crd"]), Store(Place.EXTENT, node.params["extent"]))
    reads = (Read(0, output=0, port=0),)
    return ActorNetwork((Actor("find", _step, ("at", "ref"), ("ref",), memory=stores, reads=reads),))
