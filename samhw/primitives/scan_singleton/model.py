"""scan_singleton: the level scanner of a singleton level, one coordinate below each reference."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.walk.model import BEYOND, WALK_READS, WALK_STATE, walk
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import Memory, Words

__all__ = ["expand"]


def _one(parent: Words, memory: Memory) -> int:
    return 1


def _coordinate(parent: Words, memory: Memory, c: int) -> int:
    r = parent[0]
    if r >= len(memory[0]):
        return BEYOND
    coordinate = memory[0][r]
    return coordinate if coordinate < memory[1][0] else BEYOND


def _reference(parent: Words, memory: Memory, c: int) -> int:
    return parent[0]


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Gives crd[r] for each reference r."""
    coordinates = Store(Place.MEMORY, node.params["crd"])
    extent = Store(Place.EXTENT, node.params["extent"])
    step = walk(1, _one, _coordinate, _reference)
    stores = (coordinates, extent)
    actor = Actor("walk", step, ("ref",), ("crd", "ref"), WALK_STATE, stores, reads=WALK_READS)
    return ActorNetwork((actor,))
