"""gather: collects in turn what lanes have made of what was distributed to them."""

from dataclasses import replace

from samhw.graph import Arch, Graph, Node
from samhw.primitives.carry.model import carrying_taken
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import NONE, PAYLOAD, PROTOCOL, STOP, TAKES, Memory, Step, Words, fault, firing

__all__ = ["expand"]

TURN, OVER = 0, 1
START = (0, 0)


def _take_back(n: int, m: int) -> Step:
    every = (1 << n) - 1
    push = firing(0, 0, 1)
    wait_all = firing(every)
    take_all = firing(every, every, 1)
    protocol = fault(PROTOCOL, every)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        turn = state[TURN]
        here = 1 << turn
        head = kind[turn]
        if head == NONE:
            return here
        behind = turn + 1 if turn < n - 1 else 0
        word = data[turn]
        out_kind[0] = head
        out_data[0] = word
        if head in PAYLOAD:
            if m == 0:
                state[TURN] = behind
            return here | here << TAKES | push
        if head == STOP:
            hi = word >> 4
            if hi < m:
                if hi == m - 1:
                    state[TURN] = behind
                return here | here << TAKES | push
            if word & 15 < m and not state[OVER] >> behind & 1:
                # The list of this lane is over. Is the row after this one the last one of all?
                looked = here | 1 << behind
                if kind[behind] == NONE:
                    return looked
                if kind[behind] != STOP or data[behind] & 15 < m:
                    out_data[0] = word & 15 | m - 1 << 4
                    state[OVER] |= here
                    state[TURN] = behind
                    return looked | push
        for lane in range(n):
            if kind[lane] == NONE:
                return wait_all
        for lane in range(n):
            if kind[lane] != head:
                return protocol
            if head == STOP and lane != turn:
                if data[lane] >> 4 != word >> 4:
                    return protocol
                if max(data[lane] & 15, m) != max(word & 15, m):
                    return protocol
                if data[lane] & 15 < m and not state[OVER] >> lane & 1:
                    return protocol
        state[TURN] = 0
        state[OVER] = 0
        return take_all

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The gather."""
    inputs = tuple(port.name for port in node.inputs)
    words = graph.given(node, "ref").words
    widths = dict.fromkeys((*inputs, "ref"), words) if words > 1 else {}
    step = _take_back(node.params["lanes"], node.params["levels"])
    actor = Actor("take", step, inputs, ("ref",), START, widths=widths)
    if widths:
        sources, target = actor.offsets(inputs)[:-1], actor.offsets(("ref",))[0]
        routes = [(source, target, words - 1) for source in sources]
        actor = replace(actor, step=carrying_taken(actor.step, routes))
    return ActorNetwork((actor,))
