"""reduce_vector: adds fibers up, coordinate by coordinate."""

from math import prod

from samhw.graph.numerics import REDUCTIONS
from samhw.graph.spec.base import Reduction, Work
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import SHAPE, VALUE, Params, choice, parameters
from samhw.primitives.vector_reducer.spec import BANKS, BITS, ReducerToVectors

__all__ = ["SPEC"]


class _ReduceVector(ReducerToVectors):
    kind = "reduce_vector"
    rule = (
        "Adds the fibers inside up, coordinate by coordinate, and gives the sums when the outer fiber ends."
    )
    params = parameters(op=choice(*REDUCTIONS), bits=BITS, value=VALUE, banks=BANKS, shape=SHAPE)
    values = ("val",)

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(REDUCTIONS[params["op"]], self.kept_coordinates(params), "val")

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "val", each=prod(params.get("shape", ())))

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return blocks.alike(self.kind, params)


SPEC = _ReduceVector()
