"""scan_ragged: the level scanner of a ragged level, a dense level of variable length."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.scan_compressed.model import fetch
from samhw.primitives.walk.model import BEYOND, WALK_STATE, walk
from samhw.sim.network import Actor, ActorNetwork, Link, Place, Store
from samhw.sim.step import Memory, Words

__all__ = ["expand"]


def _length(ends: Words, memory: Memory) -> int:
    return ends[1] - ends[0]


def _coordinate(ends: Words, memory: Memory, c: int) -> int:
    return c if c < memory[0][0] else BEYOND


def _reference(ends: Words, memory: Memory, c: int) -> int:
    return ends[0] + c


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Enumerates 0 .. pos[r + 1] - pos[r] - 1 below each r."""
    step = walk(2, _length, _coordinate, _reference)
    extent = (Store(Place.EXTENT, node.params["extent"]),)
    link = Link(arch.memory, arch.internal_depth(arch.memory))
    walker = Actor("walk", step, ("start", "end"), ("crd", "ref"), WALK_STATE, extent)
    return ActorNetwork((fetch(node), walker), {"start": link, "end": link})
