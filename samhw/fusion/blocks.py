"""Blocks: which indices go from block to block, how large the blocks are along them, and what has to fit."""

from collections.abc import Iterator

from samhw.errors import InputError
from samhw.frontend import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Program, Statement, Sub
from samhw.frontend.expr import factors_of, free_indices, terms
from samhw.frontend.vanishing import vanishes, vanishes_by_first
from samhw.tensors import LevelType

__all__ = ["block_sizes", "undivided", "whole_masks"]


def block_sizes(program: Program) -> dict[str, int]:
    """By dimension, how many coordinates a block has along it, where that is more than one.

    Raises:
        InputError: for tensors that store a dimension in different blocks, or with blocks and without; and
            for a mask in blocks, of which only coordinates would be looked at.
    """
    sizes: dict[str, tuple[int, str]] = {}
    for decl in program.tensors.values():
        for mode, dimension in enumerate(program.dimensions.of_tensor(decl.name)):
            own = decl.format.block_of(mode)
            size, name = sizes.setdefault(dimension, (own, decl.name))
            if size != own:
                raise InputError(
                    f"'{name}' is stored in blocks of {size} along {dimension}, but '{decl.name}' in blocks "
                    f"of {own}; store both in blocks of one size, as --blocks {dimension}={max(size, own)} "
                    "does."
                )
    given = {decl.name for decl in program.inputs}
    for name in whole_masks(program):
        if name not in given or program.tensors[name].format.of_blocks.levels[-1] is LevelType.dense:
            raise InputError(
                f"The mask '{name}' is stored in blocks, and is no input in compressed levels, whose blocks "
                "are known to have no zeros; leave its blocks out."
            )
    return {dimension: size for dimension, (size, _) in sizes.items() if size > 1}


def whole_masks(program: Program) -> list[str]:
    """The masks in blocks. A mask lets through what lies at its coordinates, so no block of it may have a
    zero."""
    masks = (statement.mask.tensor for statement in program.statements if statement.mask is not None)
    return [name for name in dict.fromkeys(masks) if program.tensors[name].format.block is not None]


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
            return index in expr.variables
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
