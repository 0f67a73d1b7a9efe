"""matmul: the product of two blocks, summed over the axes that only they have."""

from math import prod

import numpy as np

from samhw.graph import Arch, Graph, Node
from samhw.numerics import ScalarOp
from samhw.primitives.model import Model
from samhw.primitives.network import Actor, ActorNetwork
from samhw.primitives.pairwise import pairwise
from samhw.primitives.places import Places, places
from samhw.primitives.step import NONE, OVERFLOW, PAYLOAD, PROTOCOL, VAL, Memory, Step, Words, fault, firing
from samhw.spec.matmul import MATMUL, operand_shape

__all__ = ["Matmul"]


def _multiply(multiply: ScalarOp, add: ScalarOp, left: Places, right: Places, sums: int) -> Step:
    """`left` and `right` are the places in `data` of the factors; `state` has room for those of a sum."""
    count = len(left) // sums
    wait = firing(0b11)
    take = firing(0b11, 0b11, 1)
    protocol = fault(PROTOCOL, 0b11)
    overflow = fault(OVERFLOW, 0b11)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE or kind[1] == NONE:
            return wait
        if kind[0] in PAYLOAD and kind[1] in PAYLOAD:
            n = 0
            while n < sums:
                t = 0
                while t < count:
                    x = multiply(
                        data[left[n * count + t]] if kind[0] == VAL else 0,
                        data[right[n * count + t]] if kind[1] == VAL else 0,
                    )
                    if x < 0:
                        return overflow
                    state[t] = x
                    t += 1
                total = pairwise(add, state, count)
                if total < 0:
                    return overflow
                out_data[n] = total
                n += 1
            out_kind[0] = VAL
            return take
        if kind[0] not in PAYLOAD and kind[0] == kind[1] and data[0] == data[1]:
            out_kind[0] = kind[0]
            out_data[0] = data[0]
            return take
        return protocol

    return step


class Matmul(Model):
    """The multiplier of blocks. An EMPTY operand reads as zeros."""

    spec = MATMUL

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        value, params = graph.operand_type(node), node.params
        widths = {port: prod(operand_shape(params, port)) for port in "ab"}
        # The first words of both operands lie before all others.
        sizes = [*params["shape"], *params["over"]]
        left, right = places(sizes, params["a"]), places(sizes, params["b"])
        left, right = np.where(left, left + 1, 0), np.where(right, right + widths["a"], 1)
        sums = prod(params["shape"])
        step = _multiply(value.scalar("mul"), value.scalar("add"), left, right, sums)
        room = (0,) * prod(params["over"])
        return ActorNetwork(
            (Actor("multiply", step, ("a", "b"), ("val",), room, widths=widths | {"val": sums}),)
        )
