"""drop_val: leaves out coordinates whose values are zero."""

from samhw.graph.spec.base import Ports
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import SHAPE, VALUE, Params, parameters
from samhw.graph.spec.streams import crd, val
from samhw.primitives.dropper.spec import Dropper

__all__ = ["SPEC"]


class _DropVal(Dropper):
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


SPEC = _DropVal()
