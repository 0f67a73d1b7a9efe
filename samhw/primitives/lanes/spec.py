"""What scatter and gather have in common: they distribute a level to lanes, and collect it."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import MOST_LANES, Plain
from samhw.graph.spec.params import Param, Params, choice

__all__ = ["LANES", "PAYLOAD", "Lanes"]

LANES = Param(
    f"a number from 2 to {MOST_LANES}", lambda lanes: type(lanes) is int and 2 <= lanes <= MOST_LANES
)

PAYLOAD = choice("crd", "ref", "val")


class Lanes(Plain):
    """Passes payloads on as they are, to another stream."""

    cell = None

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step
