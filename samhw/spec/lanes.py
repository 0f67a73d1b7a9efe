"""What distributes the coordinates of a level to lanes, and what collects them in turn: scatter, gather."""

from samhw.numerics import ValueType
from samhw.spec.arch import Arch
from samhw.spec.base import Distribution, Plain, Ports, too_shallow
from samhw.spec.params import SHAPE, VALUE, Param, Params, choice, parameters
from samhw.spec.streams import typed

__all__ = ["GATHER", "MOST_LANES", "SCATTER"]

MOST_LANES = 16
"""The most lanes of one of them; what has more is a tree of them."""

_LANES = Param(
    f"a number from 2 to {MOST_LANES}", lambda lanes: type(lanes) is int and 2 <= lanes <= MOST_LANES
)
_PAYLOAD = choice("crd", "ref", "val")


class _Lanes(Plain):
    cell = None

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step


class _Scatter(_Lanes):
    kind = "scatter"
    rule = "Deals coordinates to lanes in turn, each with all that lies inside of it."
    params = parameters(lanes=_LANES, payload=_PAYLOAD, value=VALUE, shape=SHAPE)

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


class _Gather(_Lanes):
    kind = "gather"
    rule = "Takes rows back from lanes in turn, so that they come in the order in which they were dealt."
    params = parameters(
        lanes=_LANES,
        levels=Param("a whole number", lambda levels: type(levels) is int and levels >= 0),
        payload=_PAYLOAD,
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


SCATTER = _Scatter()
GATHER = _Gather()
