"""The rules of index tensors: ``Y[e, f] = E[src[e], f]`` gathers, ``Y[dst[e], f] = M[e, f]`` scatters."""

from samhw.frontend.expr import Recurrence, RunningReduction, accesses
from samhw.frontend.program import Program
from samhw.frontend.statement import Statement

__all__ = ["check_gathers", "check_index_tensors"]


def check_gathers(program: Program, statement: Statement) -> None:
    """Raise InputError for an index tensor at a place where none may stand in `statement`."""
    if not statement.has_index_tensors:
        return
    if statement.is_move:
        raise program.error(
            statement.rhs.span,
            f"'{statement}' moves whole tensors, and takes no index tensor; gather or scatter in a statement "
            "of its own",
        )
    if statement.lhs.index_tensors:
        _check_scatter(program, statement)


def _check_scatter(program: Program, statement: Statement) -> None:
    lhs = statement.lhs
    alone = isinstance(statement.rhs, RunningReduction | Recurrence)
    if statement.reduction != "sum" or alone:
        raise program.error(
            lhs.span,
            f"'{lhs}' adds up what falls on one place, and takes nothing but a sum on the right; compute the "
            "rest in a statement before it",
        )
    for index in statement.reduction_indices:
        raise program.error(
            lhs.span,
            f"index '{index}' is summed over in a statement that writes '{lhs}'; compute the sum in a "
            "statement before it",
        )


def check_index_tensors(program: Program) -> None:
    """Raise InputError for an index tensor that no input could be."""
    written = {statement.lhs.tensor for statement in program.statements}
    for statement in program.statements:
        for access in statement.accesses:
            for index in access.index_tensors:
                if index.tensor in written:
                    raise program.error(
                        access.span,
                        f"the index tensor '{index.tensor}' of '{access}' is computed by the program, and "
                        "only an input can name places; compute it before the run",
                    )
    for statement in program.statements:
        masks = () if statement.mask is None else (statement.mask,)
        for access in (*accesses(statement.rhs), *masks):
            if access.tensor in program.index_tensors:
                raise program.error(
                    access.span,
                    f"'{access.tensor}' names places in another statement or access, and is read as numbers "
                    "here; give the numbers as an input of their own",
                )
