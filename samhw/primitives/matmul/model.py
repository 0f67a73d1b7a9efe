"""matmul: the product of two blocks, summed over the axes that only they have."""

from math import prod
from typing import NamedTuple

from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import ScalarOp, operation
from samhw.graph.spec.params import Params
from samhw.primitives.matmul.spec import operand_shape
from samhw.primitives.pairwise.model import Places, pairwise, places
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import NONE, OVERFLOW, PAYLOAD, PROTOCOL, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]


class _Rows(NamedTuple):
    """How a firing goes through its products: row by row of the result, along its last axis."""

    left: Places
    """Where the first factor of each row lies in the first operand, sum after sum,"""
    right: Places
    """and in the second."""
    steps: tuple[int, int]
    """How far it is to the next one of the row, in each operand."""
    length: int
    """Results in a row."""
    terms: int
    """Products in a sum."""


def _multiply(multiply: ScalarOp, add: ScalarOp, widths: tuple[int, int], rows: _Rows) -> Step:
    """`state` has room for both operands, and for the products of a row twice. Loops are such that machine
    code does several of their rounds at once."""
    wait = firing(0b11)
    take = firing(0b11, 0b11, 1)
    protocol = fault(PROTOCOL, 0b11)
    overflow = fault(OVERFLOW, 0b11)
    first, second = widths
    left, right, (along_left, along_right), length, terms = rows
    products = first + second
    sums = len(left) // terms

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        if kind[0] == NONE or kind[1] == NONE:
            return wait
        if kind[0] in PAYLOAD and kind[1] in PAYLOAD:
            # The first words of both operands lie before all others.
            state[0] = data[0] if kind[0] == VAL else 0
            state[first] = data[1] if kind[1] == VAL else 0
            n = 1
            while n < first:
                state[n] = data[1 + n] if kind[0] == VAL else 0
                n += 1
            n = 1
            while n < second:
                state[first + n] = data[first + n] if kind[1] == VAL else 0
                n += 1
            row = 0
            while row < sums:
                wrong = 0
                t = 0
                while t < terms:
                    a = left[row * terms + t]
                    b = first + right[row * terms + t]
                    into = products + t * length
                    n = 0
                    while n < length:
                        x = multiply(state[a + n * along_left], state[b + n * along_right])
                        wrong |= x
                        state[into + n] = x
                        n += 1
                    t += 1
                if wrong < 0:
                    return overflow
                total = pairwise(add, state, products, terms, length)
                if total < 0:
                    return overflow
                n = 0
                while n < length:
                    out_data[row * length + n] = state[total + n]
                    n += 1
                row += 1
            out_kind[0] = VAL
            return take
        if kind[0] not in PAYLOAD and kind[0] == kind[1] and data[0] == data[1]:
            out_kind[0] = kind[0]
            out_data[0] = data[0]
            return take
        return protocol

    return step


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The multiplier of blocks. An EMPTY operand reads as zeros."""
    value, params = graph.result_type(node), node.params
    first, second = (prod(operand_shape(params, port)) for port in "ab")
    rows = _rows(params)
    multiply = operation("mul", graph.operand_type(node), value).scalar()
    step = _multiply(multiply, value.scalar("add"), (first, second), rows)
    room = (0,) * (first + second + 2 * rows.terms * rows.length)
    widths = {"a": first, "b": second, "val": prod(params["shape"])}
    work = 2 * prod(params["shape"]) * rows.terms
    actor = Actor("multiply", step, ("a", "b"), ("val",), room, widths=widths, operations=work)
    return ActorNetwork((actor,))


def _rows(params: Params) -> _Rows:
    """The rows of a product. Without an axis, a result is a row of one."""
    shape, over = params["shape"], params["over"]
    length = shape[-1] if shape else 1
    terms = prod(over)

    def along(port: str) -> tuple[Places, int]:
        at = places([*shape, *over], params[port]).reshape(-1, length, terms)
        return at[:, 0].reshape(-1), int(at[0, 1, 0] - at[0, 0, 0]) if length > 1 else 0

    (left, left_step), (right, right_step) = along("a"), along("b")
    return _Rows(left, right, (left_step, right_step), length, terms)
