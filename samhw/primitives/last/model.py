"""last: each innermost fiber becomes its last element."""

from samhw.graph import Arch, Graph, Node
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import DONE, NONE, PAYLOAD, STOP, VAL, Memory, Step, Words, firing

__all__ = ["expand"]

X, HALF = 0, 1


def _keep() -> Step:
    wait = firing(1)
    take = firing(1, 1)
    push = firing(1, 0, 1)
    take_push = firing(1, 1, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        head = kind[0]
        if head == NONE:
            return wait
        if head in PAYLOAD:
            state[X] = data[0]
            return take
        if head == DONE:
            out_kind[0] = DONE
            out_data[0] = 0
            return take_push
        low = data[0] & 15
        high = data[0] >> 4
        if low == 0 and not state[HALF]:
            out_kind[0] = VAL
            out_data[0] = state[X]
            state[X] = 0
            if high == 0:
                return take_push
            state[HALF] = 1
            return push
        state[HALF] = 0
        out_kind[0] = STOP
        out_data[0] = (low - 1 if low > 0 else 0) | high - 1 << 4
        return take_push

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Gives zero for an empty fiber."""
    return ActorNetwork((Actor("keep", _keep(), ("val",), ("val",), (0, 0)),))
