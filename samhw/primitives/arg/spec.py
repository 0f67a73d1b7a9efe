"""arg: the coordinate of the best value of each fiber."""

from samhw.graph.numerics import ValueType
from samhw.graph.spec.base import Ports, Reduction, Work
from samhw.graph.spec.params import VALUE, Params, choice, parameters
from samhw.graph.spec.streams import COORDINATE, crd, val
from samhw.primitives.reducer.spec import ReducerToScalars

__all__ = ["SPEC"]


class _Arg(ReducerToScalars):
    kind = "arg"
    rule = "Gives the coordinate of the greatest, or least, value of each fiber."
    params = parameters(op=choice("max", "min"), value=VALUE)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        return [crd("crd", depth), val("val", depth)], [val("val", depth - 1)]

    def result_type(self, params: Params, value: ValueType) -> ValueType:
        """A coordinate is a whole number, of whatever type the values are."""
        return COORDINATE

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, (), "val")

    def work(self, params: Params) -> Work | None:
        return Work("le", "val")


SPEC = _Arg()
