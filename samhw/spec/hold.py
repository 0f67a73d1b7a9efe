"""What holds an outer payload for each inner coordinate: repeat, crd_hold, locate."""

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import Plain, Ports
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.params import EXTENT, SHAPE, VALUE, Params, choice, parameters
from samhw.spec.streams import crd, ref, typed

__all__ = ["CRD_HOLD", "LOCATE", "REPEAT"]


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


REPEAT = _Repeat()
CRD_HOLD = _CrdHold()
LOCATE = _Locate()
