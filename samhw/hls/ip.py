"""The floating-point IP that the `float` operations of a design become, and how many stages it gets."""

from collections.abc import Iterable

from samhw.graph import Arch, Graph
from samhw.graph.numerics import Float
from samhw.graph.spec.arch import HLS_STEP

__all__ = ["float_operators"]

_OPERATORS = {
    "add": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "div": "fdiv",
    "sqrt": "fsqrt",
    "leaky_relu": "fmul",
}
"""By operation, what Vitis calls the operator (UG1399, config_op)."""


def float_operators(graphs: Iterable[Graph], arch: Arch) -> dict[str, int]:
    """The latency of each operator on f32 that the graphs use: what `arch` gives the operation, less the two
    cycles that a process takes without it."""
    used = set()
    for graph in graphs:
        for node in graph.nodes:
            if Float("f32") in (graph.operand_type(node), graph.result_type(node)):
                work = node.spec.work(node.params)
                used.add(work.operation if work else "")
    operators = {
        _OPERATORS[op]: max(arch.alu_latency(op, Float("f32")) - HLS_STEP, 0)
        for op in used
        if op in _OPERATORS
    }
    return dict(sorted(operators.items()))
