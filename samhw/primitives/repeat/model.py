"""repeat: an outer reference or value, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.carry.model import holding
from samhw.primitives.hold.model import HOLD_STATE, hold, same
from samhw.sim.network import Actor, ActorNetwork

__all__ = ["expand"]


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The repeater."""
    step, words = hold(same), graph.given(node, "ref").words
    if words == 1:
        return ActorNetwork((Actor("hold", step, ("ref", "crd"), ("ref",), HOLD_STATE),))
    step = holding(step, 2, 1, words - 1, len(HOLD_STATE))
    state = (*HOLD_STATE, *(0,) * (words - 1))
    return ActorNetwork((Actor("hold", step, ("ref", "crd"), ("ref",), state, widths={"ref": words}),))
