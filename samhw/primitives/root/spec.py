"""root: starts a graph with the one reference 0."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.params import Params, parameters
from samhw.graph.spec.streams import ref

__all__ = ["SPEC"]


class _Root(Plain):
    kind = "root"
    rule = "Gives the one reference from which a region starts."
    params = parameters()
    cell = None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [], [ref("out", 0)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return None


SPEC = _Root()
