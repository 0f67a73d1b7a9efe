"""locate: where coordinates lie in a dense level."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.params import EXTENT, Params, parameters
from samhw.graph.spec.streams import crd, ref

__all__ = ["SPEC"]


class _Locate(Plain):
    kind = "locate"
    locates = True
    rule = "Computes for each coordinate where it lies below the reference that it holds, in a dense level."
    params = parameters(extent=EXTENT)
    cell = "Locate"

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth), crd("crd", depth + 1)], [ref("ref", depth + 1)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.locate

    def follows(self, port: str, params: Params) -> str | None:
        return "crd"


SPEC = _Locate()
