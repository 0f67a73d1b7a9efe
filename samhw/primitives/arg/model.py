"""arg: each innermost fiber becomes the coordinate of its greatest, or least, value."""

from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import ScalarOp
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import DONE, NONE, PAYLOAD, PROTOCOL, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["beats", "expand"]

BEST, AT, NOT_FIRST, HALF = 0, 1, 2, 3


def beats(le: ScalarOp, eq: ScalarOp, greatest: bool) -> ScalarOp:
    """Whether a value takes the place of the best one before it: as 1 or 0, of both in this order."""

    def beats(x: int, best: int) -> int:
        if eq(best, best) == 0:
            return 0
        bound = le(x, best) if greatest else le(best, x)
        return 1 if bound == 0 else 0

    return beats


def _keep(wins: ScalarOp) -> Step:
    both = 0b11
    wait = firing(both)
    take = firing(both, both)
    push = firing(both, 0, 1)
    take_push = firing(both, both, 1)
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        crd = kind[0]
        val = kind[1]
        if crd == NONE or val == NONE:
            return wait
        if crd == VAL and val in PAYLOAD:
            if not state[NOT_FIRST] or wins(data[1], state[BEST]):
                state[BEST] = data[1]
                state[AT] = data[0]
                state[NOT_FIRST] = 1
            return take
        if crd != val or data[0] != data[1] or crd in PAYLOAD:
            return protocol
        if crd == DONE:
            out_kind[0] = DONE
            out_data[0] = 0
            return take_push
        low = data[0] & 15
        high = data[0] >> 4
        if low == 0 and not state[HALF]:
            out_kind[0] = VAL
            out_data[0] = state[AT]
            state[AT] = 0
            state[NOT_FIRST] = 0
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
    value = graph.operand_type(node)
    wins = beats(value.scalar("le"), value.scalar("eq"), node.params["op"] == "max")
    return ActorNetwork((Actor("keep", _keep(wins), ("crd", "val"), ("val",), (0, 0, 0, 0)),))
