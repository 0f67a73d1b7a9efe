"""locate: the references of given coordinates in a dense level, by calculation."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.base import NAME, Params, Ports, Primitive, crd, parameters, ref
from samhw.primitives.hold import HOLD_STATE, hold
from samhw.primitives.network import Actor, ActorNetwork, Place, Store
from samhw.primitives.step import Memory

__all__ = ["Locate"]


def _address(r: int, x: int, memory: Memory) -> int:
    extent = memory[0][0]
    return r * extent + x if x < extent else -1


class Locate(Primitive):
    """The locator: r * N + x for each coordinate x below the reference r."""

    kind = "locate"
    params = parameters(extent=NAME)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth), crd("crd", depth + 1)], [ref("ref", depth + 1)]

    def latency(self, node: Node, port: str, arch: Arch, value: str) -> int:
        return arch.locate

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        extent = (Store(Place.EXTENT, node.params["extent"]),)
        return ActorNetwork((Actor("hold", hold(_address), ("ref", "crd"), ("ref",), HOLD_STATE, extent),))
