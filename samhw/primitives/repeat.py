"""repeat: an outer reference or value, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.carry import holding
from samhw.primitives.hold import HOLD_STATE, hold, same
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork
from samhw.spec.hold import REPEAT

__all__ = ["Repeater"]


class Repeater(Model):
    """The repeater."""

    spec = REPEAT

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        step, words = hold(same), graph.given(node, "ref").words
        if words == 1:
            return ActorNetwork((Actor("hold", step, ("ref", "crd"), ("ref",), HOLD_STATE),))
        step = holding(step, 2, 1, words - 1, len(HOLD_STATE))
        state = (*HOLD_STATE, *(0,) * (words - 1))
        return ActorNetwork((Actor("hold", step, ("ref", "crd"), ("ref",), state, widths={"ref": words}),))
