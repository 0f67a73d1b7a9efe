"""alu: an operation on each payload, or on each pair of payloads."""

from typing import Any

from samhw.errors import InputError
from samhw.graph import Arch, Graph, Node
from samhw.numerics import ARITY, ScalarOp, value_type
from samhw.primitives.base import Param, Params, Ports, Primitive, choice, parameters, val
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


def _binary(op: ScalarOp) -> Step:
    both = 0b11
    wait = firing(both)
    take = firing(both, both, 1)
    protocol = fault(PROTOCOL, both)
    overflow = fault(OVERFLOW, both)

    def step(kind: Words, data: Words, state: Words, memory: Memory, out_kind: Words, out_data: Words) -> int:
        a = kind[0]
        b = kind[1]
        if a == NONE or b == NONE:
            return wait
        if a in PAYLOAD and b in PAYLOAD:
            result = op(data[0], data[1])
            if result < 0:
                return overflow
            out_kind[0] = VAL
            out_data[0] = result
            return take
        if a == b and data[0] == data[1]:
            out_kind[0] = a
            out_data[0] = data[0]
            return take
        return protocol

    return step


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


def _with_immediate(op: ScalarOp, b: int) -> ScalarOp:
    def apply(a: int) -> int:
        return op(a, b)

    return apply


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class Alu(Primitive):
    """The ALU. An EMPTY operand reads as zero; its payload word is 0."""

    kind = "alu"
    params = parameters(
        op=choice("add", "sub", "mul", "neg"),
        immediate=Param("a number, the second operand", _is_number, optional=True),
    )

    def clash(self, params: Params) -> str | None:
        if ARITY[params["op"]] == 1 and "immediate" in params:
            return f"has an immediate, which {params['op']!r} cannot use; leave it out"
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        binary = ARITY[params["op"]] == 2 and "immediate" not in params
        return [val(name, depth) for name in ("ab" if binary else "a")], [val("val", depth)]

    def latency(self, node: Node, port: str, arch: Arch) -> int:
        op = node.params["op"]
        if op not in arch.alu:
            raise InputError(f"Node {node.name!r} (alu) needs a latency for {op!r}; add it to Arch.alu.")
        return arch.alu[op]

    def expand(self, node: Node, graph: Graph, arch: Arch) -> ActorNetwork:
        value = value_type(graph.value)
        op = value.scalar(node.params["op"])
        if "immediate" in node.params:
            immediate = node.params["immediate"]
            try:
                word = int(value.encode([immediate])[0])
            except InputError as error:
                raise InputError(
                    f"Node {node.name!r} (alu) has the immediate {immediate}, which {value} cannot hold; "
                    "choose another --value."
                ) from error
            op = _with_immediate(op, word)
        step = _binary(op) if len(node.inputs) == 2 else _unary(op)
        return ActorNetwork((Actor("alu", step, tuple(p.name for p in node.inputs), ("val",)),))
