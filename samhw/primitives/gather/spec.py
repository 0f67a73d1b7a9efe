"""gather: collects in turn what lanes have."""

from samhw.graph.spec.base import Distribution, Ports, too_shallow
from samhw.graph.spec.params import SHAPE, VALUE, Param, Params, parameters
from samhw.graph.spec.streams import typed
from samhw.primitives.lanes.spec import LANES, PAYLOAD, Lanes

__all__ = ["SPEC"]


class _Gather(Lanes):
    kind = "gather"
    rule = "Takes rows back from lanes in turn, so that they come in the order in which they were dealt."
    params = parameters(
        lanes=LANES,
        levels=Param("a whole number", lambda levels: type(levels) is int and levels >= 0),
        payload=PAYLOAD,
        value=VALUE,
        shape=SHAPE,
    )

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, params["levels"] + 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        payload, shape = params["payload"], params.get("shape", ())
        inputs = [typed(f"ref{lane}", payload, depth, shape) for lane in range(params["lanes"])]
        return inputs, [typed("ref", payload, depth, shape)]

    def follows(self, port: str, params: Params) -> str | None:
        return "ref0"

    def distribution(self, params: Params) -> Distribution | None:
        return Distribution(params["lanes"], params["levels"], collects=True)


SPEC = _Gather()
