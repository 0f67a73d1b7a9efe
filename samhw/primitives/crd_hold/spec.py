"""crd_hold: an outer coordinate for each inner one."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.params import Params, parameters
from samhw.graph.spec.streams import crd

__all__ = ["SPEC"]


class _CrdHold(Plain):
    kind = "crd_hold"
    rule = "Gives the outer coordinate once for each coordinate of the fiber inside."
    params = parameters()
    cell = None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("outer", depth), crd("inner", depth + 1)], [crd("crd", depth + 1)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "inner"


SPEC = _CrdHold()
