"""pick: the references of coordinates that a memory holds, in a dense level."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.params import EXTENT, Each, Params, StoredArray, parameters, read
from samhw.graph.spec.streams import ref

__all__ = ["SPEC"]


class _Pick(Plain):
    kind = "pick"
    locates = True
    rule = "Reads a coordinate at each reference, and computes where it lies in a dense level below another."
    params = parameters(crd=read(StoredArray.CRD, 1, Each.TAKEN), extent=EXTENT)
    cell = "Pick"

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("at", depth), ref("ref", depth)], [ref("ref", depth)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory + arch.locate

    def follows(self, port: str, params: Params) -> str | None:
        return "at"


SPEC = _Pick()
