"""repeat: an outer reference or value, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.hold import HOLD_STATE, hold, same
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork
from samhw.spec.hold import REPEAT

__all__ = ["Repeater"]


class Repeater(Model):
    """The repeater."""

    spec = REPEAT

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        return ActorNetwork((Actor("hold", hold(same), ("ref", "crd"), ("ref",), HOLD_STATE),))
