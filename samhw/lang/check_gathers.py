"""The rules of indices that are more than a name: ``Y[e, f] = E[src[e], f]`` gathers, ``Y[dst[e], f] = ..``
scatters, and ``Y[i] = X[2*i + d - 1] * K[d]`` has a window."""

from samhw.errors import InputError
from samhw.lang.declaration import MAX_EXTENT
from samhw.lang.expr import Access, Recurrence, RunningReduction
from samhw.lang.index import ComputedIndex
from samhw.lang.lexemes import is_name
from samhw.lang.program import Program
from samhw.lang.statement import Statement
from samhw.lang.traverse import accesses

__all__ = ["check_gathers", "check_index_extents", "check_index_tensors"]


def check_gathers(program: Program, statement: Statement) -> None:
    """Raise InputError for an index that is more than a name where `statement` takes none."""
    if statement.is_plain:
        return
    for access in statement.accesses:
        for index in access.computed:
            _check_computed(program, access, index)
    if statement.is_move:
        raise program.error(
            statement.rhs.span,
            f"'{statement}' moves whole tensors, and takes nothing but names as indices; gather or scatter "
            "in a statement of its own",
        )
    if not statement.lhs.is_plain and statement.lhs.step is None:
        _check_scatter(program, statement)


def _check_computed(program: Program, access: Access, index: ComputedIndex) -> None:
    for name in index.variables:
        if not is_name(name):
            raise program.error(access.span, f"'{name}' in '{access}' cannot be the name of an index")
    if max(abs(index.offset), *(abs(factor) for _, factor in index.terms), 0) > MAX_EXTENT:
        raise program.error(
            access.span, f"the index '{index}' has a number beyond {MAX_EXTENT:,}; use a smaller one"
        )


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


def check_index_extents(program: Program) -> None:
    """Raise InputError for the extent of an index that no statement has, or that is out of range."""
    used = {index for statement in program.statements for index in statement.indices}
    used |= {statement.scan.index for statement in program.statements if statement.scan is not None}
    for index, extent in program.index_extents.items():
        if index not in used:
            raise InputError(
                f"program '{program.name}' declares index {index}={extent}, which no statement uses; use it "
                "or remove it"
            )
        if not 1 <= extent <= MAX_EXTENT:
            raise InputError(
                f"program '{program.name}' declares index {index}={extent}; an extent is from 1 to "
                f"{MAX_EXTENT:,}, as coordinates have 32 bits"
            )
