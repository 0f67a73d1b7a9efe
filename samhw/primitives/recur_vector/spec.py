"""recur_vector: as reduce_vector, of sums that each of their elements rescales."""

from samhw.graph.spec.base import Reduction, Work
from samhw.graph.spec.params import VALUE, Params, parameters
from samhw.primitives.vector_reducer.spec import BANKS, BITS, ReducerToVectors

__all__ = ["SPEC"]


class _RecurVector(ReducerToVectors):
    kind = "recur_vector"
    rule = (
        "Rescales and adds the fibers inside, coordinate by coordinate, and gives the sums when the outer "
        "fiber ends."
    )
    params = parameters(bits=BITS, value=VALUE, banks=BANKS)
    values = ("factor", "val")

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(None, self.kept_coordinates(params), "val")

    def work(self, params: Params) -> Work | None:
        return Work("mul", "val")


SPEC = _RecurVector()
