"""shift: coordinates moved up by an extent."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.params import EXTENT, Params, parameters
from samhw.graph.spec.streams import crd

__all__ = ["SPEC"]


class _Shift(Plain):
    kind = "shift"
    rule = "Moves coordinates up after those of the parts before it."
    moves = True
    params = parameters(extent=EXTENT)
    cell = None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("crd", depth)], [crd("crd", depth)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "crd"


SPEC = _Shift()
