"""The rules of ``scan t { .. }``: what its statements may read and write, and what it starts from."""

from samhw.lang.expr import Access, Concat, Reshape
from samhw.lang.index import Name, StepIndex
from samhw.lang.program import Program
from samhw.lang.statement import Scan, Statement

__all__ = ["check_order_of_steps", "check_scanned", "check_scans"]


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
