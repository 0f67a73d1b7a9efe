"""`linalg.softmax` as statements."""

from collections.abc import Callable

import numpy as np

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.mlir.compute import Compute, Init
from samhw.importers.mlir.operation import MlirOperation
from samhw.importers.mlir.structured import Structured
from samhw.importers.mlir.types import AffineMap
from samhw.lang.expr import Access, Expr
from samhw.lang.functions import exp
from samhw.lang.functions import max as max_

__all__ = ["softmax"]


def softmax(compute: Compute, x: Value, op: MlirOperation) -> Value:
    """Along one dimension: the maximum, the exponentials, their sum, the quotient."""
    dim = op.attributes.get("dimension")
    rank = len(x.modes)
    if not isinstance(dim, int) or not 0 <= dim < rank:
        raise UnsupportedError("names no dimension", "give it dimension(n)")
    shape = compute.build.shape(x)
    x = compute.tensors.materialized(compute.tensors.expanded(x, [dim]))
    every = AffineMap.of_loops(rank, range(rank))
    others = AffineMap.of_loops(rank, [n for n in range(rank) if n != dim])
    left = tuple(size for n, size in enumerate(shape) if n != dim)
    parallel = tuple(n != dim for n in range(rank))

    def reduced(value: Value, how: Callable[..., Expr], start: float) -> Value:
        init = Init(left, compute.uniform(start, left))
        loops = Structured((every, others), parallel)
        expr = how(Access("%out0"), Access("%in0"))
        return compute.result(loops, 0, [value], [init], expr, {}, lambda: None)

    def along(value: Value, other: Value, how: Callable[[Expr, Expr], Expr]) -> Value:
        loops = Structured((every, others, every), (True,) * rank)
        expr = how(Access("%in0"), Access("%in1"))
        made = compute.result(loops, 0, [value, other], [Init(shape)], expr, {}, lambda: None)
        return compute.tensors.materialized(made)

    most = reduced(x, max_, -np.inf)
    powers = along(x, most, lambda a, b: exp(a - b))
    total = reduced(powers, lambda a, b: a + b, 0)
    return along(powers, total, lambda a, b: a / b)
