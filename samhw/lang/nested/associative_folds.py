"""Folds that are sums, maxima or minima: those need no order."""

from collections.abc import Iterator
from dataclasses import dataclass

from samhw.lang.nested.dataflow import (
    BlockNode,
    Constants,
    ElementRead,
    Equation,
    Loop,
    Pieces,
    constant,
    reads_of,
    variable,
)
from samhw.lang.nested.function import NestedFunction

__all__ = ["FoldReduction", "reduction_of"]

_OPERATIONS = {"add": "sum", "maximum": "max", "minimum": "min"}
_NEUTRAL = {"add": 0.0, "maximum": float("-inf"), "minimum": float("inf")}


@dataclass(frozen=True)
class FoldReduction:
    """A fold as a reduction.

    Attributes:
        result: the buffer whose last step it gives.
        state: the buffer of the state, which nothing else reads.
        kind: ``"sum"``, ``"max"`` or ``"min"``.
        loop: the reduced one, with the extent that it needs: one more, where the first item is the state.
        operand: what is reduced, under that loop's variable.
    """

    result: str
    state: str
    kind: str
    loop: Loop
    operand: ElementRead


def reduction_of(function: NestedFunction, block: BlockNode) -> FoldReduction | None:
    """The reduction that the innermost loop of a block is, if it is one."""
    *others, loop = block.loops
    last = block.body[-1]
    if any(outer.operator != "map" for outer in others) or not isinstance(last, str):
        return None
    total = function.buffers[last]
    if (
        not isinstance(total, Equation)
        or total.operation.name not in _OPERATIONS
        or len(total.arguments) != 2
    ):
        return None
    states = [r for r in total.arguments if _is_state(function, r, last, block)]
    if len(states) != 1 or any(isinstance(item, BlockNode) for item in block.body):
        return None
    (operand,) = [r for r in total.arguments if r is not states[0]]
    state = states[0].buffer
    if function.buffers[operand.buffer].shape != total.shape or _others_read(function, block, last, state):
        return None
    beginning = function.buffers[state].pieces[0].read  # type: ignore[attr-defined]
    first = function.buffers[beginning.buffer]
    kind = _OPERATIONS[total.operation.name]
    if (
        isinstance(first, Constants)
        and first.value.size
        and (first.value == _NEUTRAL[total.operation.name]).all()
    ):
        return FoldReduction(last, state, kind, loop, operand)
    if operand.substituted({loop.name: constant(-1)}) == beginning.substituted({loop.name: constant(0)}):
        from_first = operand.substituted({loop.name: variable(loop.name) - 1})
        longer = Loop(loop.name, loop.extent + 1, loop.operator, loop.line)
        return FoldReduction(last, state, kind, longer, from_first)
    return None


def _is_state(function: NestedFunction, read: ElementRead, total: str, block: BlockNode) -> bool:
    """Whether a read is of the state that a total goes on from, one step before."""
    buffer = function.buffers[read.buffer]
    if not isinstance(buffer, Pieces) or buffer.role != "state" or read.buffer not in block.body:
        return False
    loop = block.loops[-1]
    here = tuple(variable(dim.name) for dim in buffer.dims)
    before = tuple(variable(d.name) - 1 if d.name == loop.name else variable(d.name) for d in buffer.dims)
    steps = buffer.pieces[1:]
    return (
        buffer.dims[buffer.axis].name == loop.name
        and buffer.pieces[0].stop == 1
        and read.indices == here
        and all(piece.read == ElementRead(total, before) for piece in steps)
    )


def _others_read(function: NestedFunction, block: BlockNode, total: str, state: str) -> bool:
    """Whether anything but the fold reads its state, or its result before the last step."""
    at = len(function.buffers[total].dims) - 1
    end = constant(block.loops[-1].extent - 1)
    for buffer in function.buffers.values():
        for read in _all_reads(reads_of(buffer)):
            if read.buffer == state and buffer.name != total:
                return True
            if read.buffer == total and buffer.name != state and read.indices[at] != end:
                return True
    return False


def _all_reads(reads: tuple[ElementRead, ...]) -> Iterator[ElementRead]:
    for read in reads:
        yield read
        yield from _all_reads(tuple(i for i in read.indices if isinstance(i, ElementRead)))
