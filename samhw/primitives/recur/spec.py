"""recur: at each element of a fiber, a sum that each element rescales."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work, too_shallow
from samhw.graph.spec.params import VALUE, Params, parameters
from samhw.graph.spec.streams import val

__all__ = ["SPEC"]


class _Recur(KeepsLevels):
    kind = "recur"
    rule = "Gives at each element what it gave last, times the factor, plus the value."
    params = parameters(value=VALUE)
    inner_latency = None
    thins = False
    carries = True
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [val("factor", depth), val("val", depth)], [val("val", depth)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.reduce_latency("recur", self.operand_type(params, value))

    def inside(self, params: Params, arch: Arch, value: ValueType) -> int:
        # Four rounds, and a block waits for what is before it.
        return 5 * arch.reduce_latency("recur", self.operand_type(params, value))

    def follows(self, port: str, params: Params) -> str | None:
        return "val"

    def work(self, params: Params) -> Work | None:
        return Work("mul", "val")


SPEC = _Recur()
