"""drop_crd: leaves out coordinates whose fibers are empty."""

from samhw.graph.spec.base import Ports
from samhw.graph.spec.params import Params, parameters
from samhw.graph.spec.streams import crd
from samhw.primitives.dropper.spec import Dropper

__all__ = ["SPEC"]


class _DropCrd(Dropper):
    kind = "drop_crd"
    rule = "Leaves out coordinates whose fibers are empty, and these fibers."
    params = parameters()

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        streams = [crd("outer", depth), crd("inner", depth + 1)]
        return streams, streams

    def follows(self, port: str, params: Params) -> str | None:
        return port


SPEC = _DropCrd()
