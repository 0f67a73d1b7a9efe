"""repeat: an outer payload for each inner coordinate."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import Plain, Ports
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import SHAPE, VALUE, Params, choice, parameters
from samhw.graph.spec.streams import crd, typed

__all__ = ["SPEC"]


class _Repeat(Plain):
    kind = "repeat"
    rule = "Gives the payload that it holds once for each coordinate of the fiber inside."
    params = parameters(payload=choice("ref", "val"), value=VALUE, shape=SHAPE)
    cell = "Rep"

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        payload, shape = params["payload"], params.get("shape", ())
        inputs = [typed("ref", payload, depth, shape), crd("crd", depth + 1)]
        return inputs, [typed("ref", payload, depth + 1, shape)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "crd"

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        axes = blocks.axes["ref"]
        return Blocked(self.kind, {**params, "shape": blocks.shape(axes)}, {"ref": axes})


SPEC = _Repeat()
