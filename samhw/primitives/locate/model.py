"""locate: the references of given coordinates in a dense level, by calculation."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.hold.model import HOLD_STATE, hold
from samhw.sim.network import Actor, ActorNetwork, Place, Store
from samhw.sim.step import Memory

__all__ = ["expand"]


def _address(r: int, x: int, memory: Memory) -> int:
    extent = memory[0][0]
    return r * extent + x if x < extent else -1


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The locator: r * N + x for each coordinate x below the reference r."""
    extent = (Store(Place.EXTENT, node.params["extent"]),)
    return ActorNetwork((Actor("hold", hold(_address), ("ref", "crd"), ("ref",), HOLD_STATE, extent),))
