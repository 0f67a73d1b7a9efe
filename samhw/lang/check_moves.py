"""The rules of reshapes and concatenations, the statements that only move elements."""

from collections.abc import Sequence

from samhw.lang.expr import Concat, Reshape
from samhw.lang.program import Program
from samhw.lang.statement import Statement

__all__ = ["check_concat", "check_reshape"]


def check_reshape(program: Program, statement: Statement, reshape: Reshape) -> None:
    """Raise InputError unless `statement` copies a row-major tensor whole into another one."""
    _check_plain(program, statement)
    left, right = statement.lhs.names, reshape.operand.names
    for index in sorted(set(left) & set(right)):
        if not _stays(index, left, right):
            raise program.error(
                reshape.operand.span,
                f"index '{index}' is on both sides of the reshape '{statement}', and stays only in front "
                "of or after all that changes; use another name on the right",
            )
    if statement.order is not None:
        raise program.error(
            statement.order_span, f"the reshape '{reshape}' copies element by element; leave its order out"
        )
    for access in statement.accesses:
        storage = program.tensors[access.tensor].format
        if storage.block or not (storage.is_all_dense and storage.is_natural):
            raise program.error(
                access.span,
                f"'{access.tensor}' is stored as {storage}, but a reshape goes through row-major order; "
                "store it as dense, or copy it to a dense tensor first",
            )


def _stays(index: str, left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether both sides begin with the same indices up to one of them, or end with the same ones from it
    on."""
    one, other = left.index(index), right.index(index)
    return left[: one + 1] == right[: other + 1] or left[one:] == right[other:]


def check_concat(program: Program, statement: Statement, concat: Concat) -> None:
    """Raise InputError unless `statement` puts tensors of the same indices one after the other."""
    _check_plain(program, statement)
    if len(concat.operands) < 2:
        raise program.error(
            concat.span, f"'{concat}' names {len(concat.operands)} tensors; give it two or more"
        )
    if concat.index not in statement.lhs.names:
        raise program.error(
            statement.lhs.span,
            f"'{statement.lhs}' lacks the index '{concat.index}' of '{concat}'; use it on the left",
        )
    for access in concat.operands:
        if sorted(access.names) != sorted(statement.lhs.names):
            raise program.error(
                access.span,
                f"'{access}' and '{statement.lhs}' have different indices; "
                f"a concatenation along '{concat.index}' needs the same ones in every tensor",
            )


def _check_plain(program: Program, statement: Statement) -> None:
    """The rules of a statement that only moves a tensor's elements."""
    if statement.reduction != "sum" or statement.mask is not None:
        raise program.error(
            statement.rhs.span,
            f"'{statement.rhs}' takes neither a mask nor a max or min reduction; "
            "apply them in a statement of their own",
        )
