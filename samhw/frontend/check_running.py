"""The rules of running reductions."""

from samhw.frontend.expr import RunningReduction, free_indices
from samhw.frontend.program import Program
from samhw.frontend.statement import Statement

__all__ = ["check_running"]


def check_running(program: Program, statement: Statement, running: RunningReduction) -> None:
    """Raise InputError unless a running reduction goes along an index of its result, and reduces no other."""
    if statement.reduction != "sum":
        raise program.error(
            running.span,
            f"'{running}' is reduced by '{statement.reduction}=' as well; write one of them as a statement "
            "of its own",
        )
    for index in (running.index, *free_indices(running.operand)):
        if index not in statement.lhs.names:
            raise program.error(
                statement.lhs.span,
                f"'{statement.lhs}' lacks the index '{index}' of '{running}', which has a value at each "
                "coordinate; use the index on the left, or reduce it in a statement of its own",
            )
