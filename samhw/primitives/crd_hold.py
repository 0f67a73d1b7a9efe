"""crd_hold: an outer coordinate, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.hold import HOLD_STATE, hold, same
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork
from samhw.spec.hold import CRD_HOLD

__all__ = ["CrdHold"]


class CrdHold(Model):
    """Coordinate hold: gives each point of a matrix or vector reducer its outer coordinates."""

    spec = CRD_HOLD

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        return ActorNetwork((Actor("hold", hold(same), ("outer", "inner"), ("crd",), HOLD_STATE),))
