"""drop_val: removes points whose value is zero."""

from samhw.graph import Arch, Graph, Node
from samhw.primitives.carry.model import pass_both
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import DONE, EMPTY, PAYLOAD, PROTOCOL, STOP, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]


def _drop(zero_mask: int, words: int) -> Step:
    more = words - 1
    both = 0b11
    wait = firing(both)
    take = firing(both, both)
    take_push = firing(both, both, both)
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if not pass_both(kind, data, out_kind, out_data):
            return wait
        crd = kind[0]
        val = kind[1]
        if crd == VAL and val in PAYLOAD:
            if more and val == VAL and _carries(data, out_data, more, zero_mask):
                return take_push
            return take if val == EMPTY or data[1] & zero_mask == 0 else take_push
        if crd in (STOP, DONE) and val == crd and data[0] == data[1]:
            return take_push
        return protocol

    return step


def _carries(data: Words, out_data: Words, more: int, zero_mask: int) -> bool:
    """Passes the further words of a block on; gives whether any is not zero."""
    some = False
    n = 0
    while n < more:
        out_data[2 + n] = data[2 + n]
        if data[2 + n] & zero_mask != 0:
            some = True
        n += 1
    return some


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The value dropper: the coordinate goes with a zero value, or a block of zeros."""
    words = graph.taken(node, "val").words
    step = _drop(graph.operand_type(node).zero_mask, words)
    widths = {"val": words} if words > 1 else {}
    return ActorNetwork((Actor("drop", step, ("crd", "val"), ("crd", "val"), widths=widths),))
