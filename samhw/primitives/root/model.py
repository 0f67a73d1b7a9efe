"""root: starts a graph with the one reference 0."""

from samhw.graph import Arch, Graph, Node
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import DONE, VAL, Memory, Step, Words, firing

__all__ = ["expand"]


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


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The start of a graph."""
    return ActorNetwork((Actor("root", _emit(), outputs=("out",), state=(0,)),))
