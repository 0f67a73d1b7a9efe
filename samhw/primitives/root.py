"""root: starts a graph with the one reference 0."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork
from samhw.primitives.step import DONE, VAL, Memory, Step, Words, firing
from samhw.spec.root import ROOT

__all__ = ["Root"]


def _emit() -> Step:
    push = firing(0, 0, 1)
    rest = firing(0)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        fired = state[0]
        if fired == 2:
            return rest
        out_kind[0] = VAL if fired == 0 else DONE
        out_data[0] = 0
        state[0] = fired + 1
        return push

    return step


class Root(Model):
    """The start of a graph."""

    spec = ROOT

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        return ActorNetwork((Actor("root", _emit(), outputs=("out",), state=(0,)),))
