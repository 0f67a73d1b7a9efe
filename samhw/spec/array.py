"""array: the values at given references."""

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import Plain, Ports
from samhw.spec.params import VALUE, Each, Params, StoredArray, parameters, read
from samhw.spec.streams import ref, val

__all__ = ["ARRAY"]


class _Array(Plain):
    kind = "array"
    rule = "Reads the value at each reference; where a reference is empty, it gives zero."
    params = parameters(vals=read(StoredArray.VALS, 1, Each.TAKEN), value=VALUE)
    cell = None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth)], [val("val", depth)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory

    def follows(self, port: str, params: Params) -> str | None:
        return "ref"


ARRAY = _Array()
