"""The rules of what goes along one index: running reductions, recurrences, coordinates of extremes, and what
is put in order."""

from samhw.lang.expr import Expr, Recurrence, RunningReduction
from samhw.lang.program import Program
from samhw.lang.statement import Statement
from samhw.lang.traverse import free_indices

__all__ = ["check_coordinate", "check_ranking", "check_recurrence", "check_running"]


def check_running(program: Program, statement: Statement, running: RunningReduction) -> None:
    """Raise InputError unless a running reduction goes along an index of its result, and reduces no other."""
    _check_alone(program, statement, running)
    for index in (running.index, *free_indices(running.operand)):
        if index not in statement.lhs.variables:
            raise program.error(
                statement.lhs.span,
                f"'{statement.lhs}' lacks the index '{index}' of '{running}', which has a value at each "
                "coordinate; use the index on the left, or reduce it in a statement of its own",
            )


def check_recurrence(program: Program, statement: Statement, recurrence: Recurrence) -> None:
    """Raise InputError unless a recurrence goes along an index of its operands, and reduces no other."""
    _check_alone(program, statement, recurrence)
    free = free_indices(recurrence)
    if recurrence.index not in free:
        raise program.error(
            recurrence.span,
            f"nothing in '{recurrence}' has the index '{recurrence.index}' along which it goes; use it in "
            "the factor or in what is added",
        )
    for index in free:
        if index not in statement.lhs.variables and index != recurrence.index:
            raise program.error(
                statement.lhs.span,
                f"'{statement.lhs}' lacks the index '{index}' of '{recurrence}', which goes along "
                f"'{recurrence.index}' alone; use the index on the left, or reduce it in a statement of its "
                "own",
            )


def check_coordinate(program: Program, statement: Statement) -> None:
    """Raise InputError unless what gives a coordinate, or puts in order, goes along exactly one index."""
    count = len(statement.reduction_indices)
    if count == 1:
        return
    missing = " and ".join(f"'{index}'" for index in statement.reduction_indices)
    cause = f"lacks the indices {missing}" if count else "lacks no index of its right side"
    raise program.error(
        statement.lhs.span,
        f"'{statement.lhs}' {cause}, but '{statement.reduction}=' goes along exactly one; "
        + ("use the others on the left, or reshape them to one before" if count else "drop one on the left"),
    )


def check_ranking(program: Program, statement: Statement) -> None:
    """Raise InputError unless what is put in order goes along exactly one index, and counts by another."""
    check_coordinate(program, statement)
    free = free_indices(statement.rhs)
    own = [index for index in statement.lhs.variables if index not in free]
    if len(own) != 1:
        cause = f"has the indices {' and '.join(own)}" if own else "has no index"
        raise program.error(
            statement.lhs.span,
            f"'{statement.lhs}' {cause} that its right side lacks, but '{statement.reduction}=' counts what "
            "it gives by exactly one; "
            + ("use the others on the right" if own else "add one, such as V[i, r], and declare its extent"),
        )


def _check_alone(program: Program, statement: Statement, expr: Expr) -> None:
    if statement.reduction != "sum":
        raise program.error(
            expr.span,
            f"'{expr}' is reduced by '{statement.reduction}=' as well; write one of them as a statement of "
            "its own",
        )
