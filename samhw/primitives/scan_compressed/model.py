"""scan_compressed: the level scanner of a compressed level."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.walk.model import BEYOND, DISORDERED, WALK_READS, WALK_STATE, walk
from samhw.sim.network import Actor, ActorNetwork, Link, Place, Read, Store
from samhw.sim.step import NONE, RANGE, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand", "fetch", "stored_walk"]


def _fetch() -> Step:
    wait = firing(1)
    take = firing(1, 1, 0b11)
    beyond = fault(RANGE, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        out_kind[0] = out_kind[1] = head
        if head == VAL:
            pos = memory[0]
            r = data[0]
            if r + 1 >= len(pos):
                return beyond
            out_data[0] = pos[r]
            out_data[1] = pos[r + 1]
        else:
            out_data[0] = out_data[1] = data[0]
        return take

    return step


def _length(ends: Words, memory: Memory) -> int:
    return ends[1] - ends[0]


def _coordinate(ends: Words, memory: Memory, c: int) -> int:
    position = ends[0] + c
    if position >= len(memory[0]):
        return BEYOND
    coordinate = memory[0][position]
    if coordinate >= memory[1][0]:
        return BEYOND
    if c > 0 and coordinate <= memory[0][position - 1]:
        return DISORDERED
    return coordinate


def _reference(ends: Words, memory: Memory, c: int) -> int:
    return ends[0] + c


def fetch(node: Node) -> Actor:
    """The actor that reads where each fiber starts and ends. It runs ahead: short fibers cost no bubble."""
    pos = Store(Place.MEMORY, node.params["pos"])
    reads = (Read(0, output=0, port=0), Read(0, output=1, port=0, offset=1))
    return Actor("fetch", _fetch(), ("ref",), ("start", "end"), memory=(pos,), reads=reads)


def stored_walk(node: Node) -> Actor:
    """The actor that walks the coordinates from the start of a fiber to its end."""
    stores = (Store(Place.MEMORY, node.params["crd"]), Store(Place.EXTENT, node.params["extent"]))
    step = walk(2, _length, _coordinate, _reference)
    return Actor("walk", step, ("start", "end"), ("crd", "ref"), WALK_STATE, stores, reads=WALK_READS)


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Enumerates crd[pos[r]..pos[r+1]] below each r."""
    link = Link(arch.memory, arch.internal_depth(arch.memory))
    return ActorNetwork((fetch(node), stored_walk(node)), {"start": link, "end": link})
