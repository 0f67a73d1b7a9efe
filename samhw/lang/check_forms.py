"""The form of statements and scans: what may stand where."""

from collections.abc import Sequence

from samhw.errors import InputError
from samhw.lang.declaration import MAX_EXTENT
from samhw.lang.expr import Access, Concat, Expr, Recurrence, Reshape, RunningReduction
from samhw.lang.index import ComputedIndex, Name, StepIndex
from samhw.lang.program import Program
from samhw.lang.source import is_name
from samhw.lang.statement import Scan, Statement
from samhw.lang.traverse import accesses, free_indices

__all__ = [
    "check_concat",
    "check_coordinate",
    "check_gathers",
    "check_index_extents",
    "check_index_tensors",
    "check_order_of_steps",
    "check_ranking",
    "check_recurrence",
    "check_reshape",
    "check_running",
    "check_scanned",
    "check_scans",
]


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


def check_reshape(program: Program, statement: Statement, reshape: Reshape) -> None:
    """Raise InputError unless `statement` copies a row-major tensor whole into another one."""
    _check_plain(program, statement)
    left, right = statement.lhs.names, reshape.operand.names
    for index in sorted(set(left) & set(right)):
        if not _stays(index, left, right):
            raise program.error(
                reshape.operand.span,
                f"index '{index}' is on both sides of the reshape '{statement}', and stays only before "
                "or after all that changes; use another name on the right",
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


def check_scanned(program: Program, statement: Statement) -> None:
    """Raise InputError for what a statement of a scan may not have."""
    scan = statement.scan
    if scan is None:
        return
    if isinstance(statement.rhs, Reshape | Concat):
        raise program.error(
            statement.rhs.span,
            f"'{statement.rhs}' moves a whole tensor in '{scan}'; write it before or after the block",
        )
    for access in statement.accesses:
        if scan.index in access.variables:
            raise program.error(
                access.span,
                f"'{access}' computes with {scan.index}, which in '{scan}' stands for the step, as in "
                f"{scan.index} or {scan.index} - 1; gather what it reads in a statement before the block",
            )
        if access is statement.lhs and any(
            not isinstance(index, Name | StepIndex) for index in access.indices
        ):
            raise program.error(
                access.span,
                f"'{access}' has an index in '{scan}' that is neither a name nor the step; scatter what the "
                "steps give in a statement after the block",
            )
        if sum(isinstance(index, StepIndex) for index in access.indices) > 1:
            raise program.error(
                access.span,
                f"'{access}' names the step of '{scan}' twice; give each mode an index of its own",
            )
    if scan.index in statement.indices:
        raise program.error(
            statement.lhs.span,
            f"'{statement}' uses {scan.index}, the step of '{scan}', as an index of its own; use another "
            "name",
        )
    _check_result(program, statement, scan)


def _check_result(program: Program, statement: Statement, scan: Scan) -> None:
    lhs = statement.lhs
    if lhs.step is None:
        return
    if lhs.step[1].offset:
        raise program.error(
            lhs.span, f"'{lhs}' is written at another step than the present one; write it at {scan.index}"
        )
    if not program.tensors[lhs.tensor].format.is_all_dense:
        raise program.error(
            lhs.span,
            f"'{lhs.tensor}' is written step by step, which takes dense levels; store it dense, and copy it "
            "after the block",
        )


def check_order_of_steps(program: Program, statement: Statement, access: Access, written: bool) -> bool:
    """Whether a statement of a scan may read what the same scan writes.

    Args:
        written: a statement before this one writes it.

    Raises:
        InputError: for a step that is to come.
    """
    scan = statement.scan
    if scan is None or access.step is None:
        return written
    behind = scan.behind(access.step[1].offset)
    if behind < 0:
        raise program.error(
            access.span,
            f"'{access}' is of a step to come: '{scan}' goes {'down' if scan.down else 'up'}; read a step "
            f"that has been, or use 'scan {scan.index}{' down' * (not scan.down)}'",
        )
    return written or behind > 0


def check_scans(program: Program) -> None:
    """Raise InputError for a block that is in pieces or steps through nothing, for a tensor that a block
    writes step by step and reads whole, and for wrong starts."""
    scans = {s.scan.number: s.scan for s in program.statements if s.scan is not None}
    order = [None if s.scan is None else s.scan.number for s in program.statements]
    for number, scan in scans.items():
        own = [s for s in program.statements if s.scan is not None and s.scan.number == number]
        first = order.index(number)
        if order[first : first + len(own)] != [number] * len(own):
            raise program.error(own[0].lhs.span, f"'{scan}' is in pieces; keep its statements together")
        if not any(access.step for s in own for access in s.accesses):
            raise program.error(
                own[0].lhs.span,
                f"nothing in '{scan}' has the index {scan.index}; use it, or write the statements without "
                "the block",
            )
        mode = {s.lhs.tensor: s.lhs.step[0] for s in own if s.lhs.step is not None}
        for s in own:
            for access in s.reads:
                if access.tensor in mode and (access.step is None or access.step[0] != mode[access.tensor]):
                    raise program.error(
                        access.span,
                        f"'{access}' reads other steps of '{access.tensor}' than '{scan}' has at hand; have "
                        f"{scan.index}, or {scan.index} and a number, where it is written with {scan.index}",
                    )
        _check_starts(program, scan, mode, own)


def _check_starts(program: Program, scan: Scan, mode: dict[str, int], own: list[Statement]) -> None:
    seen = set()
    before = program.statements[: program.statements.index(own[0])]
    known = {decl.name for decl in program.inputs} | {s.lhs.tensor for s in before}
    for start in scan.starts:
        lhs = start.lhs
        at = [n for n, name in enumerate(lhs.own_names) if name is None]
        if lhs.tensor not in mode or at != [mode[lhs.tensor]]:
            raise program.error(
                lhs.span,
                f"'{lhs}' says what '{scan}' starts from in another mode than the one that it steps through; "
                "put the number where the block has its index",
            )
        if f"{lhs.tensor}[{lhs.indices[at[0]]}]" in seen:
            raise program.error(lhs.span, f"'{lhs}' is given twice; remove one of the statements")
        seen.add(f"{lhs.tensor}[{lhs.indices[at[0]]}]")
        for access in start.reads:
            if access.tensor not in known:
                raise program.error(
                    access.span,
                    f"'{lhs}' starts '{scan}' from '{access.tensor}', which no statement before the block "
                    "writes; move the statement that does before it",
                )
