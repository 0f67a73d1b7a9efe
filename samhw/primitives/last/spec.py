"""last: the last value of each fiber."""

from samhw.graph.spec.base import Reduction, Work
from samhw.graph.spec.params import VALUE, Params, parameters
from samhw.primitives.reducer.spec import ReducerToScalars

__all__ = ["SPEC"]


class _Last(ReducerToScalars):
    kind = "last"
    rule = "Gives the last value of each fiber."
    params = parameters(value=VALUE)

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, (), "val")

    def work(self, params: Params) -> Work | None:
        return None


SPEC = _Last()
