"""recur_vector: as reduce_vector, of sums that each of their elements rescales."""

from collections.abc import Mapping, Sequence
from typing import Self

from amaranth.hdl import Value

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.primitives.vector_reducer.component import VectorReducer
from samhw.rtl.reduction_step import RescaleStep
from samhw.rtl.site import Site

__all__ = ["RecurVector"]


class RecurVector(VectorReducer):
    """In `crd0` .. `crd<n-1>`, `factor` and `val`.

    Raises:
        InputError: `Arch.reduce` gives a step fewer cycles than the units need.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, bits: Sequence[int], banks: int = 2):
        step = RescaleStep(arch=arch, value_type=value_type)
        super().__init__(
            ["factor", "val"], step, arch=arch, value_width=value_type.width, bits=bits, banks=banks
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch, value_type=site.value, bits=site.params["bits"], banks=site.params.get("banks", 2)
        )

    def _operands(self, word: Value, operands: Sequence[Value]) -> Mapping[str, Value]:
        factor, value = operands
        return {"h": word, "r": factor, "x": value}
