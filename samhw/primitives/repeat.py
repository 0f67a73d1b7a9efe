"""repeat: an outer reference or value, once for each inner coordinate."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.base import VALUE, Params, Ports, Primitive, choice, crd, parameters, typed
from samhw.primitives.hold import HOLD_STATE, hold, same
from samhw.primitives.network import Actor, ActorNetwork

__all__ = ["Repeat"]


class Repeat(Primitive):
    """The repeater."""

    kind = "repeat"
    params = parameters(payload=choice("ref", "val"), value=VALUE)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        payload = params["payload"]
        return [typed("ref", payload, depth), crd("crd", depth + 1)], [typed("ref", payload, depth + 1)]

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        return ActorNetwork((Actor("hold", hold(same), ("ref", "crd"), ("ref",), HOLD_STATE),))
