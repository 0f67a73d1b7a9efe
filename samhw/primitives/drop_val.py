"""drop_val: removes points whose value is zero."""

from samhw.graph import Arch, Graph, Node
from samhw.numerics import value_type
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork
from samhw.primitives.step import (
    DONE,
    EMPTY,
    NONE,
    PAYLOAD,
    PROTOCOL,
    STOP,
    Memory,
    Step,
    Words,
    fault,
    firing,
)
from samhw.spec.drop import DROP_VAL

__all__ = ["DropVal"]


def _drop(zero_mask: int) -> Step:
    both = 0b11
    wait = firing(both)
    take = firing(both, both)
    take_push = firing(both, both, both)
    protocol = fault(PROTOCOL, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        crd = kind[0]
        val = kind[1]
        if crd == NONE or val == NONE:
            return wait
        if crd in PAYLOAD and val in PAYLOAD:
            if val == EMPTY or data[1] & zero_mask == 0:
                return take
        elif crd in (STOP, DONE):
            if val != crd or data[0] != data[1]:
                return protocol
        else:
            return protocol
        out_kind[0] = crd
        out_data[0] = data[0]
        out_kind[1] = val
        out_data[1] = data[1]
        return take_push

    return step


class DropVal(Model):
    """The value dropper: the coordinate goes with a zero value."""

    spec = DROP_VAL

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        step = _drop(value_type(graph.operand_type(node)).zero_mask)
        return ActorNetwork((Actor("drop", step, ("crd", "val"), ("crd", "val")),))
