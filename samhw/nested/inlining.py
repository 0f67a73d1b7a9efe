"""Which operations of a function are part of the expression of what reads them, in place of a statement."""

from collections import Counter

from samhw.nested.dataflow import Equation, reads_of
from samhw.nested.function import NestedFunction
from samhw.nested.indices import variable

__all__ = ["inlined"]

_APART = frozenset({"matmul", "sum", "max", "min", "transpose"})
"""Operations over several elements: their statements are sums, or views."""


def inlined(function: NestedFunction) -> frozenset[str]:
    """The operations on single elements that one other such operation reads, once, in the same iteration."""
    counts = Counter(read.buffer for buffer in function.buffers.values() for read in reads_of(buffer))
    found = set()
    for buffer in function.buffers.values():
        if not isinstance(buffer, Equation) or buffer.operation.name in _APART:
            continue
        for read in buffer.arguments:
            other = function.buffers[read.buffer]
            if (
                isinstance(other, Equation)
                and other.operation.name not in _APART
                and counts[other.name] == 1
                and function.scope[other.name] == function.scope[buffer.name]
                and read.indices == tuple(variable(dim.name) for dim in other.dims)
            ):
                found.add(other.name)
    return frozenset(found)
