"""What takes coordinates out of a stream: drop_crd, drop_val."""

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import KeepsLevels, Ports, Work, too_shallow
from samhw.spec.blocks import Blocked, TakenBlocks
from samhw.spec.params import SHAPE, VALUE, Params, parameters
from samhw.spec.streams import crd, val

__all__ = ["DROP_CRD", "DROP_VAL"]


class _Dropper(KeepsLevels):
    """Its outputs are its inputs, with less in them."""

    inner_latency = None
    thins = True
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def work(self, params: Params) -> Work | None:
        return None


class _DropCrd(_Dropper):
    kind = "drop_crd"
    rule = "Leaves out coordinates whose fibers are empty, and these fibers."
    params = parameters()

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        streams = [crd("outer", depth), crd("inner", depth + 1)]
        return streams, streams

    def follows(self, port: str, params: Params) -> str | None:
        return port


class _DropVal(_Dropper):
    kind = "drop_val"
    rule = "Leaves out the coordinates whose values are zero or missing, and these values."
    params = parameters(value=VALUE, shape=SHAPE)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        streams = [crd("crd", depth), val("val", depth, params.get("shape", ()))]
        return streams, streams

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return blocks.alike(self.kind, params)

    def follows(self, port: str, params: Params) -> str | None:
        return "crd"


DROP_CRD = _DropCrd()
DROP_VAL = _DropVal()
