"""scan_singleton: the level scanner of a singleton level, one coordinate below each reference."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.base import NAME, Params, Ports, Primitive, crd, parameters, ref
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import Memory, Words
from samhw.primitives.walk import BEYOND, WALK_READS, WALK_STATE, walk

__all__ = ["ScanSingleton"]


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


class ScanSingleton(Primitive):
    """Gives crd[r] for each reference r."""

    kind = "scan_singleton"
    params = parameters(crd=NAME, extent=NAME)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth)], [crd("crd", depth + 1), ref("ref", depth + 1)]

    def latency(self, node: Node, port: str, arch: Arch, value: str) -> int:
        return arch.memory if port == "crd" else arch.step

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        coordinates = Store(Place.MEMORY, node.params["crd"])
        extent = Store(Place.EXTENT, node.params["extent"])
        step = walk(1, _one, _coordinate, _reference)
        stores = (coordinates, extent)
        actor = Actor("walk", step, ("ref",), ("crd", "ref"), WALK_STATE, stores, reads=WALK_READS)
        return ActorNetwork((actor,))
