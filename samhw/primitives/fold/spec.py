"""fold: blocks that are reduced along some of their axes."""

from math import prod

from samhw.graph.numerics import REDUCTIONS, ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work
from samhw.graph.spec.params import VALUE, Param, Params, are_axes, are_sizes, choice, parameters
from samhw.graph.spec.streams import val
from samhw.primitives.matmul.spec import MOST_WORDS

__all__ = ["SPEC", "folded_shape"]


class _Fold(KeepsLevels):
    kind = "fold"
    rule = "Reduces each block along some of its axes, a block a cycle."
    params = parameters(
        op=choice(*REDUCTIONS),
        shape=Param("a list of sizes of 1 or more", are_sizes),
        over=Param("a list of axes, each at most once", are_axes),
        value=VALUE,
    )
    inner_latency = None
    thins = False
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        axes = len(params["shape"])
        if any(axis >= axes for axis in params["over"]):
            return f"folds the axis {max(params['over'])} of blocks with {axes}; give one of them"
        if prod(params["shape"]) > MOST_WORDS:
            return f"takes {prod(params['shape']):,} elements at once; give smaller blocks, of {MOST_WORDS:,}"
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [val("block", depth, params["shape"])], [val("val", depth, folded_shape(params))]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        count = prod(params["shape"][axis] for axis in params["over"])
        operation = REDUCTIONS[params["op"]]
        each = arch.alu_latency(operation, self.operand_type(params, value))
        return (count - 1).bit_length() * each or arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "block"

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "block", each=prod(params["shape"]))


SPEC = _Fold()


def folded_shape(params: Params) -> tuple[int, ...]:
    """The shape of what is left of a block."""
    return tuple(size for axis, size in enumerate(params["shape"]) if axis not in params["over"])
