"""locate: the references of given coordinates in a dense level, by calculation."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.hold import HOLD_STATE, hold
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import Memory
from samhw.spec.hold import LOCATE

__all__ = ["Locate"]


def _address(r: int, x: int, memory: Memory) -> int:
    extent = memory[0][0]
    return r * extent + x if x < extent else -1


class Locate(Model):
    """The locator: r * N + x for each coordinate x below the reference r."""

    spec = LOCATE

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        return ActorNetwork((Actor("hold", hold(_address), ("ref", "crd"), ("ref",), HOLD_STATE, extent),))
