"""alu: an operation on each payload, or on payloads of up to three streams in lockstep."""

from typing import Any

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.numerics import (
    ALL_OPERATIONS,
    SCALE_MULTIPLIERS,
    SCALE_SHIFTS,
    WIDENING,
    ScalarOp,
    operation,
    value_type,
)
from samhw.primitives.base import VALUE, Param, Params, Ports, Primitive, choice, parameters, val
from samhw.primitives.network import Actor, ActorNetwork
from samhw.primitives.step import (
    NONE,
    OVERFLOW,
    PAYLOAD,
    PROTOCOL,
    VAL,
    Memory,
    Step,
    Words,
    fault,
    firing,
)

__all__ = ["Alu"]

OPERANDS = "abc"


def _unary(op: ScalarOp) -> Step:
    wait = firing(1)
    take = firing(1, 1, 1)
    overflow = fault(OVERFLOW, 1)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        a = kind[0]
        if a == NONE:
            return wait
        if a in PAYLOAD:
            result = op(data[0])
            if result < 0:
                return overflow
            out_kind[0] = VAL
            out_data[0] = result
        else:
            out_kind[0] = a
            out_data[0] = data[0]
        return take

    return step


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


def _on_two(op: ScalarOp) -> ScalarOp:
    def apply(data: Words) -> int:
        return op(data[0], data[1])

    return apply


def _on_three(op: ScalarOp) -> ScalarOp:
    def apply(data: Words) -> int:
        return op(data[0], data[1], data[2])

    return apply


def _are_immediates(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(x, int | float) and not isinstance(x, bool) for x in value.values()
    )


def _is_among(value: Any, allowed: range) -> bool:
    return isinstance(value, int) and value in allowed


class Alu(Primitive):
    """The ALU. An EMPTY operand reads as zero; its payload word is 0."""

    kind = "alu"
    params = parameters(
        op=choice(*ALL_OPERATIONS),
        immediates=Param("a map from operands (a, b, c) to numbers", _are_immediates, optional=True),
        value=VALUE,
        to=VALUE,
    )

    def clash(self, params: Params) -> str | None:
        op, immediates = params["op"], params.get("immediates", {})
        operands = OPERANDS[: ALL_OPERATIONS[op]]
        if unknown := sorted(set(immediates) - set(operands)):
            return f"has an immediate {unknown[0]!r}, but the operands of {op!r} are {', '.join(operands)}"
        if len(immediates) == len(operands):
            return "has immediates for all of its operands; leave one to a stream"
        if op == "scale" and not (
            _is_among(immediates.get("b"), SCALE_MULTIPLIERS) and _is_among(immediates.get("c"), SCALE_SHIFTS)
        ):
            return "has op = 'scale'; give it the immediates b, 0 to 2^31 - 1, and c, 0 to 62"
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        operands = OPERANDS[: ALL_OPERATIONS[params["op"]]]
        streams = [name for name in operands if name not in params.get("immediates", {})]
        return [val(name, depth) for name in streams], [val("val", depth)]

    def latency(self, node: Node, port: str, arch: Arch, value: str) -> int:
        op = node.params["op"]
        source = str(node.params.get("value", value))
        kind = value_type(source)
        if op not in kind.operations and op not in ("convert", "scale"):
            raise InputError(
                f"{source} has no operation {op!r}, which node {node.name!r} needs; choose another --value, "
                "such as f32."
            )
        return arch.alu_latency(op, str(node.params.get("to", source)) if op in WIDENING else source)

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        source, target = value_type(graph.operand_type(node)), value_type(graph.result_type(node))
        constants = {}
        for name, number in node.params.get("immediates", {}).items():
            try:
                constants[OPERANDS.index(name)] = int(source.encode([number])[0])
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
        step = _unary(op) if len(inputs) == 1 else _lockstep(op, len(inputs))
        return ActorNetwork((Actor("alu", step, inputs, ("val",)),))
