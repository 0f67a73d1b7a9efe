"""crd_hold: an outer coordinate, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.base import Params, Ports, Primitive, crd
from samhw.primitives.hold import HOLD_STATE, hold, same
from samhw.primitives.network import Actor, ActorNetwork

__all__ = ["CrdHold"]


class CrdHold(Primitive):
    """Coordinate hold: gives each point of a matrix or vector reducer its outer coordinates."""

    kind = "crd_hold"

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("outer", depth), crd("inner", depth + 1)], [crd("crd", depth + 1)]

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        return ActorNetwork((Actor("hold", hold(same), ("outer", "inner"), ("crd",), HOLD_STATE),))
