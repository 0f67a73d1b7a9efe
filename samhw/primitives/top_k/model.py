"""top_k: of each innermost fiber the greatest, or least, values in order, or their coordinates."""

from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import ScalarOp
from samhw.primitives.arg.model import beats
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import DONE, NONE, PAYLOAD, PROTOCOL, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]

FILLED, SLOTS = 0, 1
"""The number of slots in use; then the values of all slots, and after them the coordinates."""

CRD_AND_VAL, RANK, ALL = 0b011, 0b100, 0b111


def _insert(wins: ScalarOp, k: int, state: Words, crd: int, x: int) -> None:
    """Moves up what x beats, from the last slot on, and puts x below it."""
    filled = state[FILLED]
    at = filled
    for back in range(k):
        slot = k - 1 - back
        if at == slot + 1 and wins(x, state[SLOTS + slot]):
            if at < k:
                state[SLOTS + at] = state[SLOTS + slot]
                state[SLOTS + k + at] = state[SLOTS + k + slot]
            at = slot
    if at < k:
        state[SLOTS + at] = x
        state[SLOTS + k + at] = crd
    if filled < k:
        state[FILLED] = filled + 1


def _keep(wins: ScalarOp, k: int, shown: int) -> Step:
    """`shown` is where the words begin that come out: of values or of coordinates."""
    wait_for_two = firing(CRD_AND_VAL)
    take_two = firing(CRD_AND_VAL, CRD_AND_VAL)
    wait = firing(ALL)
    give = firing(ALL, RANK, 1)
    take_push = firing(ALL, ALL, 1)
    protocol = fault(PROTOCOL, ALL)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        crd = kind[0]
        val = kind[1]
        rank = kind[2]
        if crd == NONE or val == NONE:
            return wait_for_two
        if crd == VAL and val in PAYLOAD:
            _insert(wins, k, state, data[0], data[1])
            return take_two
        if rank == NONE:
            return wait
        if crd != val or data[0] != data[1] or crd in PAYLOAD:
            return protocol
        if rank == VAL and crd == STOP and data[0] & 15 == 0:
            out_kind[0] = VAL
            out_data[0] = state[shown + data[2]] if data[2] < state[FILLED] else 0
            return give
        if rank != crd or (crd != DONE and data[2] != data[0]):
            return protocol
        state[FILLED] = 0
        out_kind[0] = crd
        out_data[0] = data[0]
        return take_push

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """Gives zero at the ranks that a fiber is too short for."""
    value, k = graph.operand_type(node), node.params["k"]
    wins = beats(value.scalar("le"), value.scalar("eq"), node.params["op"] == "max")
    step = _keep(wins, k, SLOTS if node.params["gives"] == "values" else SLOTS + k)
    return ActorNetwork((Actor("keep", step, ("crd", "val", "rank"), ("val",), (0,) * (2 * k + 1)),))
