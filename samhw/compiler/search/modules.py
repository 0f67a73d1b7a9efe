"""Regions by the module tree: what the operators of one module compute streams from one to the next."""

from collections.abc import Mapping
from dataclasses import replace

from samhw.choices.fuse import MODULE
from samhw.choices.schedule import Schedule
from samhw.lang import Access, Program, Statement
from samhw.lang.brackets import apply_brackets

__all__ = ["in_modules", "module_regions"]


def in_modules(schedule: Schedule, program: Program, scopes: Mapping[str, str] | None) -> Schedule:
    """The schedule with the regions that `module` stands for, if it has that.

    In a program that was not made of a module, and so has no `scopes`, it is refused where it is applied.
    """
    if schedule.fuse != MODULE or scopes is None:
        return schedule
    return replace(schedule, fuse=module_regions(apply_brackets(program, schedule.brackets), scopes))


def module_regions(program: Program, scopes: Mapping[str, str]) -> list[list[str]]:
    """For each region the results that it computes.

    Neighbouring statements of one module, and of those right inside of it, are a region. It ends before what
    would have something recomputed: an operand that lacks an index which stands outside of its own. Where
    streams end it, the search finds out.

    Args:
        scopes: for each result the module that computes it.
    """
    regions: list[list[Statement]] = []
    written: set[str] = set()
    for statement in program.statements:
        held = regions[-1] if regions else []
        if held and _home(statement, scopes) == _home(held[-1], scopes) and _joins(statement, held, written):
            held.append(statement)
        else:
            regions.append([statement])
            written = set()
        written.add(statement.lhs.tensor)
    return [[statement.lhs.tensor for statement in region] for region in regions]


def _home(statement: Statement, scopes: Mapping[str, str]) -> str:
    """The module that the operator's own module is right inside of."""
    return scopes.get(statement.lhs.tensor, "").rpartition(".")[0]


def _joins(statement: Statement, held: list[Statement], written: set[str]) -> bool:
    return (
        statement.joins(held)
        and (statement.mask is None or statement.mask.tensor not in written)
        and not any(
            access.tensor in written and _is_repeated(statement, access) for access in statement.reads
        )
    )


def _is_repeated(statement: Statement, access: Access) -> bool:
    """Whether an operand of the same region would be computed again and again."""
    if not access.variables:
        return False
    order = statement.order or statement.indices
    inner = max(map(order.index, access.variables))
    return any(index not in access.variables for index in order[:inner])
