"""Blocks: which indices go from block to block, and how large the blocks are along them. At the edge they
reach beyond an extent, and hold zeros there: which statements keep to that."""

from collections.abc import Iterator, Mapping

from samhw.errors import InputError
from samhw.graph.numerics.operations import vanishes, vanishes_by_first
from samhw.lang.expr import Access, Add, Call, Div, Expr, Literal, Mul, Neg, Sub
from samhw.lang.program import Program
from samhw.lang.statement import Statement
from samhw.lang.traverse import factors_of, free_indices, terms

__all__ = ["block_sizes", "is_zero_beyond", "reaching_beyond"]


def block_sizes(program: Program) -> dict[str, int]:
    """By dimension, how many coordinates a block has along it, where that is more than one.

    Raises:
        InputError: for tensors that store a dimension in different blocks, or with blocks and without.
    """
    if all(decl.format.block is None for decl in program.tensors.values()):
        return {}
    found: dict[str, dict[int, str]] = {}
    for decl in program.tensors.values():
        for mode, dimension in enumerate(program.dimensions.of_tensor(decl.name)):
            found.setdefault(dimension, {}).setdefault(decl.format.block_of(mode), decl.name)
    _check_equal(found)
    sizes = {dimension: max(own) for dimension, own in found.items()}
    return {dimension: size for dimension, size in sizes.items() if size > 1}


def _check_equal(found: Mapping[str, Mapping[int, str]]) -> None:
    """Raises `InputError` for dimensions with blocks of several sizes, each by a tensor that has it."""
    largest = {dimension: max(own) for dimension, own in found.items() if len(own) > 1}
    if not largest:
        return
    dimension = next(iter(largest))
    (size, name), (other, another) = list(found[dimension].items())[:2]
    option = "+".join(f"{index}={size}" for index, size in largest.items())
    raise InputError(
        f"'{name}' is stored in blocks of {size} along {dimension}, but '{another}' in blocks of {other}; "
        f"store all in blocks of one size, as in '--blocks {option}'."
    )


def reaching_beyond(statement: Statement) -> Iterator[str]:
    """The indices beyond whose extents a statement would take in, or leave, what is not zero. Under a mask
    that has an index it is zero there, and takes in nothing."""
    masked = () if statement.mask is None else statement.mask.variables
    for index in statement.lhs.variables:
        if index not in masked and not is_zero_beyond(statement.rhs, index):
            yield index
    for index in statement.reduction_indices:
        if index in masked:
            continue
        over = [term for term in terms(statement.rhs) if index in free_indices(term)]
        if statement.reduction != "sum" or not all(is_zero_beyond(term, index) for term in over):
            yield index


def is_zero_beyond(expr: Expr, index: str) -> bool:
    """Whether an expression is zero beyond the extent of an index, where tensors that have it are."""
    match expr:
        case Access():
            return index in expr.own_names
        case Literal(value):
            return value == 0
        case Neg(operand):
            return is_zero_beyond(operand, index)
        case Mul():
            return any(is_zero_beyond(factor, index) for factor in factors_of(expr))
        case Div(left, _):
            return is_zero_beyond(left, index)
        case Add() | Sub():
            return all(is_zero_beyond(side, index) for side in (expr.left, expr.right))
        case Call("select", (condition, chosen, otherwise)):
            # Whatever the condition is, where both branches are zero.
            branches = [otherwise] if is_zero_beyond(condition, index) else [chosen, otherwise]
            return all(is_zero_beyond(branch, index) for branch in branches)
        case Call(function, arguments) if vanishes_by_first(function):
            return is_zero_beyond(arguments[0], index)
        case Call(function, arguments):
            numbers = [a.value if isinstance(a, Literal) else None for a in arguments]
            others = (a for a in arguments if not isinstance(a, Literal))
            return vanishes(function, numbers) and all(is_zero_beyond(a, index) for a in others)
    return False
