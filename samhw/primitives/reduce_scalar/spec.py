"""reduce_scalar: folds each fiber to one value."""

from math import prod

from samhw.graph.numerics import REDUCTIONS
from samhw.graph.spec.base import Reduction, Work
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import SHAPE, VALUE, Params, choice, parameters
from samhw.primitives.reducer.spec import ReducerToScalars

__all__ = ["SPEC"]


class _ReduceScalar(ReducerToScalars):
    kind = "reduce_scalar"
    rule = "Folds the values of each fiber to one, which it gives when the fiber ends."
    params = parameters(op=choice(*REDUCTIONS), value=VALUE, shape=SHAPE)
    inner_latency = "step"

    def reduction(self, params: Params) -> Reduction | None:
        return Reduction(REDUCTIONS[params["op"]], (), "val")

    def work(self, params: Params) -> Work | None:
        return Work(REDUCTIONS[params["op"]], "val", each=prod(params.get("shape", ())))

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        return blocks.alike(self.kind, params)


SPEC = _ReduceScalar()
