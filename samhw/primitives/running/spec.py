"""running: at each element of a fiber, the reduction of the fiber up to it, or of what is before it."""

from samhw.graph.numerics import REDUCTIONS, ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work, too_shallow
from samhw.graph.spec.params import VALUE, Param, Params, choice, parameters
from samhw.graph.spec.streams import val

__all__ = ["SPEC"]


class _Running(KeepsLevels):
    kind = "running"
    rule = "Gives after each value what all values of the fiber up to there fold to."
    params = parameters(
        op=choice(*REDUCTIONS),
        exclusive=Param("true or false", lambda given: isinstance(given, bool), optional=True),
        value=VALUE,
    )
    inner_latency = None
    thins = False
    carries = True
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [val("val", depth)], [val("val", depth)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step if params.get("exclusive") else self._all(params, arch, value)

    def inside(self, params: Params, arch: Arch, value: ValueType) -> int:
        kind, op = self.operand_type(params, value), params["op"]
        # Three rounds, and a block waits for the sum of those before it.
        before = 4 * arch.reduce_latency(op, kind) if kind.block(op) > 1 else 0
        return before + (self._all(params, arch, value) if params.get("exclusive") else 0)

    def _all(self, params: Params, arch: Arch, value: ValueType) -> int:
        """The latency of the inclusive values."""
        kind, op = self.operand_type(params, value), params["op"]
        return arch.reduce_latency(op, kind) if kind.block(op) > 1 else arch.step + 1

    def follows(self, port: str, params: Params) -> str | None:
        return "val"

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "val")


SPEC = _Running()
