"""array: the values at references."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import SHAPE, VALUE, Each, Params, StoredArray, parameters, read
from samhw.graph.spec.streams import ref, val

__all__ = ["SPEC"]


class _Array(Plain):
    kind = "array"
    rule = "Reads the value at each reference; where a reference is empty, it gives zero."
    params = parameters(vals=read(StoredArray.VALS, 1, Each.TAKEN), value=VALUE, shape=SHAPE)
    cell = None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [ref("ref", depth)], [val("val", depth, params.get("shape", ()))]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.memory

    def follows(self, port: str, params: Params) -> str | None:
        return "ref"

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        axes = blocks.axes["val"]
        return Blocked(self.kind, {**params, "shape": blocks.shape(axes)}, {"val": axes})


SPEC = _Array()
