"""crd_hold: an outer coordinate, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.hold.model import HOLD_STATE, hold, same
from samhw.sim.network import Actor, ActorNetwork

__all__ = ["expand"]


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Coordinate hold: gives each point of a matrix or vector reducer its outer coordinates."""
    return ActorNetwork((Actor("hold", hold(same), ("outer", "inner"), ("crd",), HOLD_STATE),))
