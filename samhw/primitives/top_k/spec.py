"""top_k: the best values of a fiber in order."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work, too_shallow
from samhw.graph.spec.params import VALUE, Param, Params, choice, parameters
from samhw.graph.spec.streams import COORDINATE, crd, val

__all__ = ["SPEC"]

_MOST = 64
"""The most values that a top_k keeps: each has a comparator."""


def _is_number_of_ranks(given: object) -> bool:
    return type(given) is int and 1 <= given <= _MOST


class _TopK(KeepsLevels):
    """It takes whole fibers, and gives fibers of another index, whose coordinates `rank` has."""

    kind = "top_k"
    rule = "Gives the greatest, or least, values of each fiber in order, or their coordinates."
    params = parameters(
        op=choice("max", "min"),
        gives=choice("values", "places"),
        k=Param(f"a number from 1 to {_MOST}", _is_number_of_ranks),
        value=VALUE,
    )
    inner_latency = None
    thins = False
    completes = True
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        return too_shallow(depth, 1)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("crd", depth), val("val", depth), crd("rank", depth)], [val("val", depth)]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        return arch.step

    def follows(self, port: str, params: Params) -> str | None:
        return "rank"

    def result_type(self, params: Params, value: ValueType) -> ValueType:
        """A coordinate is a whole number, of whatever type the values are."""
        return COORDINATE if params["gives"] == "places" else self.operand_type(params, value)

    def work(self, params: Params) -> Work | None:
        return Work("le", "val")


SPEC = _TopK()
