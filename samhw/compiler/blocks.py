"""What the data of a program in blocks must be: blocks at the edge, and those of masks, hold zeros."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.frontend import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Program, Statement, Sub
from samhw.frontend.expr import factors_of, free_indices, terms
from samhw.fusion import block_sizes, whole_masks
from samhw.numerics.vanishing import vanishes, vanishes_by_first
from samhw.tensors.blocks import blocks_with_zeros

__all__ = ["check_divided", "check_whole", "undivided"]


def check_divided(program: Program, extents: Mapping[str, int]) -> None:
    """Raises `InputError` for extents that blocks reach beyond where what they hold there would matter."""
    sizes = block_sizes(program)
    for dimension, statement in undivided(program).items():
        if extents.get(dimension, 0) % sizes[dimension]:
            raise InputError(
                f"Blocks of {sizes[dimension]} along {dimension} reach beyond {extents[dimension]:,}, where "
                f"'{statement}' would not be zero; choose a size that divides it, or leave the blocks out "
                "(--blocks)."
            )


def check_whole(program: Program, mask: str, coords: NDArray[np.int64], shape: Sequence[int]) -> None:
    """Raises `InputError` for a mask in blocks some of which have zeros, from the coordinates (rank, n) at
    which it has none."""
    if mask not in whole_masks(program):
        return
    format = program.tensors[mask].format
    sizes = [format.block_of(mode) for mode in range(len(shape))]
    if found := blocks_with_zeros(coords, shape, sizes):
        raise InputError(
            f"The mask '{mask}' has zeros in {found:,} of its blocks of {' by '.join(map(str, sizes))}, each "
            "of which would let everything through; choose blocks that have none, or leave its blocks out "
            "(--blocks)."
        )


def undivided(program: Program) -> dict[str, Statement]:
    """The dimensions in blocks whose extents the blocks have to divide, each with a statement for which.

    A block at the edge reaches beyond the extent, and holds zeros there. Sums do not notice. But a statement
    may not leave anything else there, and a maximum, a minimum or a product would take these zeros in.
    """
    sizes = block_sizes(program)
    found: dict[str, Statement] = {}
    for statement in program.statements:
        dimension = program.dimensions.of_statement(statement)
        for index in _reaching_beyond(statement):
            if dimension.get(index) in sizes:
                found.setdefault(dimension[index], statement)
    return found


def _reaching_beyond(statement: Statement) -> Iterator[str]:
    """The indices beyond whose extents a statement would take in, or leave, what is not zero."""
    inside = statement.reduction_indices
    for index in statement.lhs.variables:
        if not _is_zero_beyond(statement.rhs, index):
            yield index
    for index in inside:
        over = [term for term in terms(statement.rhs) if index in free_indices(term)]
        if statement.reduction != "sum" or not all(_is_zero_beyond(term, index) for term in over):
            yield index


def _is_zero_beyond(expr: Expr, index: str) -> bool:
    """Whether an expression is zero beyond the extent of an index, where tensors that have it are."""
    match expr:
        case Access():
            return index in expr.own_names
        case Literal(value):
            return value == 0
        case Neg(operand):
            return _is_zero_beyond(operand, index)
        case Mul():
            return any(_is_zero_beyond(factor, index) for factor in factors_of(expr))
        case Div(left, _):
            return _is_zero_beyond(left, index)
        case Add() | Sub():
            return all(_is_zero_beyond(side, index) for side in (expr.left, expr.right))
        case Call(function, arguments) if vanishes_by_first(function):
            return _is_zero_beyond(arguments[0], index)
        case Call(function, arguments):
            numbers = [a.value if isinstance(a, Literal) else None for a in arguments]
            others = (a for a in arguments if not isinstance(a, Literal))
            return vanishes(function, numbers) and all(_is_zero_beyond(a, index) for a in others)
    return False
