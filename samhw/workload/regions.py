"""Regions by the module tree: what the operators of one module compute streams from one to the next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from samhw.errors import ScheduleError
from samhw.frontend import Access, Program, Region, Statement
from samhw.schedule import MODULE, Schedule
from samhw.search import compile_program
from samhw.workload.workload import Workload

__all__ = ["module_regions", "scheduled"]


def scheduled(workload: Workload, schedule: Schedule | None) -> Schedule:
    """The schedule with the regions that `module` stands for, if it has that.

    Raises:
        InputError: for a program that was not made of a module.
    """
    chosen = schedule or Schedule()
    if chosen.fuse != MODULE or workload.scopes is None:
        return chosen  # Which is refused where it is applied.
    return replace(chosen, fuse=module_regions(workload.program, workload.scopes, chosen))


def module_regions(program: Program, scopes: Mapping[str, str], schedule: Schedule) -> list[list[str]]:
    """For each region the results that it computes.

    Neighbouring statements of one module, and of those right inside of it, are a region. It ends before what
    would have something computed anew (an operand that lacks an index which stands outside of its own), and
    where streams end it: what the compiler refuses is cut shorter.

    Args:
        program: with extents.
        schedule: all else that is chosen.
    """
    regions: list[list[Statement]] = []
    for statement in program.statements:
        held = regions[-1] if regions else []
        if held and _joins(statement, held) and _home(statement, scopes) == _home(held[-1], scopes):
            held.append(statement)
        else:
            regions.append([statement])
    cut = [part for region in regions for part in _compiling(program, region, schedule)]
    return [[statement.lhs.tensor for statement in region] for region in cut]


def _home(statement: Statement, scopes: Mapping[str, str]) -> str:
    """The module that the operator's own module is right inside of."""
    return scopes.get(statement.lhs.tensor, "").rpartition(".")[0]


def _joins(statement: Statement, held: Sequence[Statement]) -> bool:
    written = {other.lhs.tensor for other in held}
    return (
        statement.joins(held)
        and (statement.mask is None or statement.mask.tensor not in written)
        and not any(
            access.tensor in written and _is_repeated(statement, access) for access in statement.reads
        )
    )


def _is_repeated(statement: Statement, access: Access) -> bool:
    """Whether an operand of the same region would be computed again and again."""
    if not access.indices:
        return False
    order = statement.order or statement.indices
    inner = max(map(order.index, access.indices))
    return any(index not in access.indices for index in order[:inner])


def _compiling(
    program: Program, region: Sequence[Statement], schedule: Schedule
) -> Iterator[Sequence[Statement]]:
    """The region in parts that streams can follow, each as long as can be."""
    while region:
        count = len(region)
        while count > 1 and not _compiles(program, region[:count], schedule):
            count -= 1
        yield region[:count]
        region = region[count:]


def _compiles(program: Program, region: Sequence[Statement], schedule: Schedule) -> bool:
    """Whether streams can follow these statements as one region. What others read of it is stored."""
    written = {statement.lhs.tensor for statement in region}
    elsewhere = {a.tensor for s in program.statements if s not in region for a in s.reads}
    named = {access.tensor for statement in region for access in statement.accesses}
    tensors = {name: decl for name, decl in program.tensors.items() if name in named}
    readers = []
    for name in written & elsewhere:
        decl = program.tensors[name]
        copy = replace(decl, name=f"{name}_read")
        tensors[copy.name] = copy
        reader = Statement(Access(copy.name, decl.indices), Access(name, decl.indices))
        readers.append(Region((reader,)))
    alone = replace(program, tensors=tensors, regions=(Region(tuple(region)), *readers))
    try:
        compile_program(alone, _alone(schedule, alone))
    except ScheduleError:
        return False
    return True


def _alone(schedule: Schedule, program: Program) -> Schedule:
    """What of a schedule is for any region of a program, and what of it names tensors of this one."""
    formats = {name: text for name, text in schedule.formats.items() if name in program.tensors}
    share = schedule.share
    if not isinstance(share, str):
        computed = [statement.lhs.tensor for statement in program.statements]
        share = {name: way for name, way in share.items() if name in computed}
    return replace(schedule, fuse="partial", formats=formats, share=share, order={}, lanes={}, off_chip=None)
