"""Which operations of a function are part of the expression of what reads them, instead of a statement."""

from collections import Counter
from collections.abc import Iterator, Sequence

from samhw.lang.nested.dataflow import BlockNode, Equation, Item, reads_of
from samhw.lang.nested.function import NestedFunction
from samhw.lang.nested.indices import variable
from samhw.lang.nested.reductions import reduction_of

__all__ = ["inlined"]

_APART = frozenset({"matmul", "sum", "max", "min", "transpose"})
"""Operations over several elements: their statements are sums, or views."""


def inlined(function: NestedFunction) -> frozenset[str]:
    """The operations on single elements that one other such operation reads, once, in the same iteration;
    not that of a reduction, which is not an operation of its program."""
    reduced = set(_reduced(function, function.body))
    counts = Counter(read.buffer for buffer in function.buffers.values() for read in reads_of(buffer))
    found = set()
    for buffer in function.buffers.values():
        if not isinstance(buffer, Equation) or buffer.operation.name in _APART:
            continue
        if buffer.name not in function.scope:  # It only names places.
            continue
        for read in buffer.arguments:
            other = function.buffers[read.buffer]
            if (
                isinstance(other, Equation)
                and other.name not in reduced
                and other.operation.name not in _APART
                and counts[other.name] == 1
                and function.scope[other.name] == function.scope[buffer.name]
                and read.indices == tuple(variable(dim.name) for dim in other.dims)
            ):
                found.add(other.name)
    return frozenset(found)


def _reduced(function: NestedFunction, items: Sequence[Item]) -> Iterator[str]:
    """What reductions take."""
    for item in items:
        if isinstance(item, BlockNode):
            reduction = reduction_of(function, item)
            if reduction is not None:
                yield reduction.operand.buffer
            yield from _reduced(function, item.body)
