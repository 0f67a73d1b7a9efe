"""alu: an operation on each payload, or on payloads of up to three streams in lockstep."""

from math import prod

import numpy as np

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.graph.numerics import ScalarOp, operation
from samhw.primitives.alu.spec import OPERANDS, axes_of, block_of
from samhw.primitives.each.model import each
from samhw.primitives.pairwise.model import Places, places
from samhw.sim.network import Actor, ActorNetwork
from samhw.sim.step import NONE, OVERFLOW, PAYLOAD, PROTOCOL, VAL, Memory, Step, Words, fault, firing

__all__ = ["expand"]


def _unary(op: ScalarOp) -> Step:
    overflow = fault(OVERFLOW, 1)

    def word(kind: int, a: int, memory: Memory) -> int:
        result = op(a)
        return result if result >= 0 else overflow

    return each(word)


def _lockstep(op: ScalarOp, n: int) -> Step:
    """Two or three operands. An `op` of two is `op(a, b)`, one of three `op(a, b, c)`."""
    heads = (1 << n) - 1
    wait = firing(heads)
    take = firing(heads, heads, 1)
    protocol = fault(PROTOCOL, heads)
    overflow = fault(OVERFLOW, heads)
    apply = _on_two(op) if n == 2 else _on_three(op)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        payloads = 0
        same = True
        for i in range(n):
            head = kind[i]
            if head == NONE:
                return wait
            if head in PAYLOAD:
                payloads += 1
            elif head != kind[0] or data[i] != data[0]:
                same = False
        if payloads == n:
            result = apply(data)
            if result < 0:
                return overflow
            out_kind[0] = VAL
            out_data[0] = result
            return take
        if payloads == 0 and same:
            out_kind[0] = kind[0]
            out_data[0] = data[0]
            return take
        return protocol

    return step


def _blockwise(op: ScalarOp, operands: Places, words: int) -> Step:
    """The operation on the elements of blocks.

    Args:
        operands: the places in `data` of each operand's elements, one for each element of the result.
        words: of the result. `state` has room for the operands of one.
    """
    n = len(operands)
    heads = (1 << n) - 1
    wait = firing(heads)
    take = firing(heads, heads, 1)
    protocol = fault(PROTOCOL, heads)
    overflow = fault(OVERFLOW, heads)
    apply = (_on_one, _on_two, _on_three)[n - 1](op)
    places = operands.reshape(-1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        payloads = 0
        same = True
        for i in range(n):
            head = kind[i]
            if head == NONE:
                return wait
            if head in PAYLOAD:
                payloads += 1
            elif head != kind[0] or data[i] != data[0]:
                same = False
        if payloads == n:
            e = 0
            while e < words:
                for i in range(n):
                    state[i] = data[places[i * words + e]] if kind[i] == VAL else 0
                result = apply(state)
                if result < 0:
                    return overflow
                out_data[e] = result
                e += 1
            out_kind[0] = VAL
            return take
        if payloads == 0 and same:
            out_kind[0] = kind[0]
            out_data[0] = data[0]
            return take
        return protocol

    return step


def _on_one(op: ScalarOp) -> ScalarOp:
    def apply(data: Words) -> int:
        return op(data[0])

    return apply


def _on_two(op: ScalarOp) -> ScalarOp:
    def apply(data: Words) -> int:
        return op(data[0], data[1])

    return apply


def _on_three(op: ScalarOp) -> ScalarOp:
    def apply(data: Words) -> int:
        return op(data[0], data[1], data[2])

    return apply


def expand(node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
    """The ALU. An EMPTY operand reads as zero; its payload word is 0."""
    source, target = graph.operand_type(node), graph.result_type(node)
    constants = {}
    for name, number in node.params.get("immediates", {}).items():
        try:
            constants[OPERANDS.index(name)] = source.constant(number)
        except InputError as error:
            raise InputError(
                f"Node {node.name!r} (alu) has the immediate {name} = {number}, which {source} cannot "
                "hold; choose another --value."
            ) from error
    try:
        op = operation(node.params["op"], source, target).scalar(constants)
    except InputError as error:
        raise InputError(f"Node {node.name!r} (alu) is impossible: {error}") from error
    inputs = tuple(port.name for port in node.inputs)
    if "shape" in node.params:
        return _of_blocks(node, op, inputs)
    step = _unary(op) if len(inputs) == 1 else _lockstep(op, len(inputs))
    return ActorNetwork((Actor("alu", step, inputs, ("val",)),))


def _of_blocks(node: Node, op: ScalarOp, inputs: tuple[str, ...]) -> ActorNetwork:
    """The actor of an ALU on blocks."""
    shape = node.params["shape"]
    widths = {port: prod(block_of(node.params, port)) for port in inputs}
    # The first words of all operands lie before all others.
    behind, operands = len(inputs) - 1, []
    for first, port in enumerate(inputs):
        own = places(shape, axes_of(node.params, port))
        operands.append(np.where(own, own + behind, first))
        behind += widths[port] - 1
    step = _blockwise(op, np.array(operands), prod(shape))
    widths["val"] = words = prod(shape)
    state = (0,) * len(inputs)
    return ActorNetwork((Actor("alu", step, inputs, ("val",), state, widths=widths, operations=words),))
