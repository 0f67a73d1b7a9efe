"""Regions by the module tree: what the operators of one module compute streams from one to the next."""

from collections.abc import Mapping

from samhw.frontend import Access, Program, Reshape, Statement

__all__ = ["module_regions"]


def module_regions(program: Program, scopes: Mapping[str, str]) -> list[list[str]]:
    """For each region the results that it computes.

    Neighbouring statements of one module are a region, up to one that would have something computed anew: an
    operand that lacks an index which stands outside of its own.
    """
    regions: list[list[str]] = []
    held: list[Statement] = []
    for statement in program.statements:
        name = statement.lhs.tensor
        joins = (
            held
            and scopes.get(name, "").rpartition(".")[0]
            == scopes.get(held[-1].lhs.tensor, "").rpartition(".")[0]
            and statement.joins(held)
            and not isinstance(statement.rhs, Reshape)
            and not any(_is_repeated(statement, access, held) for access in statement.reads)
        )
        if joins:
            regions[-1].append(name)
            held.append(statement)
        else:
            regions.append([name])
            held = [statement]
    return regions


def _is_repeated(statement: Statement, access: Access, held: list[Statement]) -> bool:
    """Whether an operand of the same region would be computed again and again."""
    if access.tensor not in {other.lhs.tensor for other in held} or not access.indices:
        return False
    order = statement.order or statement.indices
    inner = order.index(max(access.indices, key=order.index))
    return any(index not in access.indices for index in order[:inner])
