"""reduce_vector: sums vectors, matrices and so on over the index that lies directly outside of them."""

from collections.abc import Mapping, Sequence
from typing import Self

from amaranth.hdl import Value

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.primitives.vector_reducer.component import VectorReducer
from samhw.rtl.reduction_step import block_step
from samhw.rtl.site import Site

__all__ = ["ReduceVector"]


class ReduceVector(VectorReducer):
    """In `crd0` .. `crd<n-1>` and `val`.

    Args:
        op: `sum`, `max`, `min` or `prod`.
        words: those of a block, if values come in blocks.
        value_bits: as of `ReduceStep`, where they do not.

    Raises:
        InputError: the value type has no such reduction, or `Arch.reduce` gives fewer cycles than it needs.
    """

    def __init__(
        self,
        *,
        arch: Arch,
        value_type: ValueType,
        op: str,
        bits: Sequence[int],
        banks: int = 2,
        words: int = 1,
        value_bits: int | None = None,
    ):
        step = block_step(arch=arch, value_type=value_type, op=op, words=words, bits=value_bits)
        width = words * value_type.width
        super().__init__(
            ["val"], step, arch=arch, value_width=width, stored_width=value_bits, bits=bits, banks=banks
        )

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            op=site.params["op"],
            bits=site.params["bits"],
            banks=site.params.get("banks", 2),
            words=site.graph.taken(site.node, "val").words,
            value_bits=site.sum_bits(),
        )

    def _operands(self, word: Value, operands: Sequence[Value]) -> Mapping[str, Value]:
        (value,) = operands
        return {"a": word, "b": value}
