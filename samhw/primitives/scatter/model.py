"""scatter: distributes the payloads of each fiber to lanes in turn."""

from dataclasses import replace

from samhw.graph import Arch, Graph, Node
from samhw.primitives.carry.model import carrying
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import NONE, PAYLOAD, PUSHES, Memory, Step, Words, firing

__all__ = ["expand"]

TURN = 0


def _distribute(n: int) -> Step:
    wait = firing(1)
    take = firing(1, 1)
    take_push = firing(1, 1, (1 << n) - 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        for lane in range(n):
            out_kind[lane] = head
            out_data[lane] = data[0]
        if head in PAYLOAD:
            turn = state[TURN]
            state[TURN] = turn + 1 if turn < n - 1 else 0
            return take | 1 << turn << PUSHES
        state[TURN] = 0
        return take_push

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The scatter."""
    outputs = tuple(port.name for port in node.outputs)
    words = graph.taken(node, "ref").words
    widths = dict.fromkeys(("ref", *outputs), words) if words > 1 else {}
    actor = Actor("distribute", _distribute(node.params["lanes"]), ("ref",), outputs, (0,), widths=widths)
    if widths:
        source, targets = actor.offsets(("ref",))[0], actor.offsets(outputs)[:-1]
        routes = [(source, target, words - 1) for target in targets]
        actor = replace(actor, step=carrying(actor.step, routes))
    return ActorNetwork((actor,))
