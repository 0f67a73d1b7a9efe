"""scan_ragged: the level scanner of a ragged level, a dense level of variable length."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Link, Place, Store
from samhw.primitives.scan_compressed import fetch
from samhw.primitives.step import Memory, Words
from samhw.primitives.walk import BEYOND, WALK_STATE, walk
from samhw.spec.scan import SCAN_RAGGED

__all__ = ["ScanRagged"]


def _length(ends: Words, memory: Memory) -> int:
    return ends[1] - ends[0]


def _coordinate(ends: Words, memory: Memory, c: int) -> int:
    return c if c < memory[0][0] else BEYOND


def _reference(ends: Words, memory: Memory, c: int) -> int:
    return ends[0] + c


class ScanRagged(Model):
    """Enumerates 0 .. pos[r + 1] - pos[r] - 1 below each r."""

    spec = SCAN_RAGGED

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        step = walk(2, _length, _coordinate, _reference)
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        link = Link(arch.memory, arch.internal_depth(arch.memory))
        walker = Actor("walk", step, ("start", "end"), ("crd", "ref"), WALK_STATE, extent)
        return ActorNetwork((fetch(node), walker), {"start": link, "end": link})
