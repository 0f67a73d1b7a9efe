"""scatter: deals the coordinates of a level to lanes."""

from samhw.graph.spec.base import Distribution, Ports, too_shallow
from samhw.graph.spec.params import SHAPE, VALUE, Params, parameters
from samhw.graph.spec.streams import typed
from samhw.primitives.lanes.spec import LANES, PAYLOAD, Lanes

__all__ = ["SPEC"]


class _Scatter(Lanes):
    kind = "scatter"
    rule = "Deals coordinates to lanes in turn, each with all that lies inside of it."
    params = parameters(lanes=LANES, payload=PAYLOAD, value=VALUE, shape=SHAPE)

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        payload, shape = params["payload"], params.get("shape", ())
        outputs = [typed(f"ref{lane}", payload, depth, shape) for lane in range(params["lanes"])]
        return [typed("ref", payload, depth, shape)], outputs

    def follows(self, port: str, params: Params) -> str | None:
        return "ref"

    def distribution(self, params: Params) -> Distribution | None:
        return Distribution(params["lanes"], 0, collects=False)


SPEC = _Scatter()
