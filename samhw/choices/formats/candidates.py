"""Inputs stored the other way round, so that what computes an operand and what reads it can stream.

In `T[n, g] = H[n, h] * W[g, h]`, with W by its rows, every g reads all of H's row again: where H is computed
in the same region, it is computed again, or stored. With W by its columns each h is used once, as it comes.

In a step of a scan, `T[n, h] = H[t-1, n, g] * U[g, h]` with U by its rows waits for elements that it has
added to a few cycles ago, in each row and at the end of each step. With U by its columns a sum is the
innermost loop.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from samhw.choices.fuse import FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler.search.job import Job
from samhw.compiler.search.spaces import free_spaces, in_modules
from samhw.compiler.search.tried import CLEARLY, AutoChoice, Search, Stage, Start, gain_words
from samhw.compiler.search.work import work_of
from samhw.errors import InputError
from samhw.lang import Program, Statement
from samhw.tensors import Format

__all__ = ["STAGES", "neighbours", "sparse_formats", "turned_schedules"]

ORDERS = 3
"""How many orders of a region are proposed."""

FULL = 0.5
"""How dense an intermediate with compressed levels is expected to be before it is stored dense."""


def turned_schedules(program: Program, schedule: Schedule) -> Iterator[Schedule]:
    """The schedule with other mode orders of such inputs, and orders of the regions that follow from them.

    Args:
        program: as it is written.
    """
    try:
        applied = schedule.apply(program)
    except InputError:
        return
    turned: dict[str, Format] = {}
    for statement in applied.statements:
        turned |= _turned(applied, statement, set(schedule.formats))
    if turned:
        yield from _stored(program, schedule, turned)


def _stored(program: Program, schedule: Schedule, formats: Mapping[str, Format]) -> Iterator[Schedule]:
    """The schedule with other formats of some inputs, and orders of the regions that follow from them."""
    chosen = replace(schedule, formats={**schedule.formats, **{n: str(f) for n, f in formats.items()}})
    try:
        applied = chosen.apply(program).bind({})
        orders = list(islice(_orders(applied, set(formats)), ORDERS))
    except InputError:
        return
    if not orders:
        yield chosen
    for order in orders:
        known = schedule.order if isinstance(schedule.order, Mapping) else {}
        yield replace(chosen, order={**known, **order})


def _turned(program: Program, statement: Statement, given: set[str]) -> dict[str, Format]:
    """The inputs of a statement that are stored against its computed operands, in the other order; in a scan
    also those whose sums would run outside of what they add up to."""
    if statement.reduction != "sum" or statement.is_move:
        return {}
    inputs = {decl.name for decl in program.inputs}
    summed = set(statement.reduction_indices)
    computed = {i for a in statement.reads if a.tensor not in inputs for i in a.variables} & summed
    found = {}
    for access in statement.reads:
        decl = program.tensors[access.tensor]
        if access.tensor not in inputs or access.tensor in given or decl.rank != 2 or decl.format.block:
            continue
        if not access.is_plain or decl.format.one_each:
            continue
        outer, inner = (access.names[mode] for mode in decl.format.mode_order)
        alone = sum(a.tensor == access.tensor for s in program.statements for a in s.reads) == 1
        streams = inner in computed and outer in statement.lhs.variables
        waits = statement.scan is not None and outer in summed and inner in statement.lhs.variables
        if alone and (streams or waits):
            found[access.tensor] = Format(decl.format.levels, decl.format.mode_order[::-1])
    return found


def _orders(program: Program, turned: set[str]) -> Iterator[dict[str, tuple[str, ...]]]:
    """Orders of all regions that read what was turned: the first of each, then the second, and so on. Those
    of scans are left open, as their statements become ones over slices first."""
    spaces = {
        region.label: space.orders()
        for region in program.regions
        if region.label is not None
        and region.scan is None
        and any(a.tensor in turned for s in region.statements for a in s.reads)
        for space in free_spaces(program, region, turned)[:1]
    }
    while True:
        orders = {label: next(space, None) for label, space in spaces.items()}
        found = {label: order for label, order in orders.items() if order is not None}
        if not found:
            return
        yield found


def _fused(
    search: Search, schedule: Schedule, fuse: FusionLevel | FusionRule | Sequence[Sequence[str]]
) -> Schedule:
    """The schedule with other regions, which have none of the orders that were found for its own."""
    return schedule if fuse == schedule.fuse else replace(schedule, fuse=fuse, order=search.given.order)


def _turned_round(search: Search, best: AutoChoice) -> AutoChoice:
    """The same, or with everything fused, with inputs stored the other way round."""
    for fuse in ("full", "partial"):
        for schedule in turned_schedules(search.program, _fused(search, best.schedule, fuse)):
            found = search.tried(schedule)
            if found is not None:
                best = min(best, found, key=lambda way: way.cycles)
                break
    return best


def sparse_formats(job: Job, schedule: Schedule, given: Schedule) -> dict[str, Format]:
    """The formats, rows of nonzeros, of inputs that are stored dense, and have many zeros.

    Args:
        given: the schedule that was asked for, whose formats stay.
    """
    declared = job.program.tensors
    found = {}
    for name in job.zeros:
        if name in given.formats or name in schedule.split:
            continue
        now = schedule.formats.get(name)
        fmt = declared[name].format if now is None else Format.parse(now, declared[name].rank)
        if fmt.is_all_dense and fmt.block is None:
            found[name] = fmt.rows
    return found


def _by_nonzeros(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """The same with inputs of many zeros stored by their nonzeros: all of them, then each the other way
    round or dense again, whichever takes the fewest cycles."""
    formats = sparse_formats(search.job, best.schedule, search.given)
    if not formats:
        return best
    program, start = search.program, best.schedule
    found = best
    for fuse in dict.fromkeys((start.fuse, "full", "partial")):
        found = _fewest(search, found, _stored_as(program, _fused(search, start, fuse), formats))
    for name, fmt in formats.items():
        for other in (fmt, Format(fmt.levels, fmt.mode_order[::-1])):
            found = _fewest(search, found, _stored_as(program, found.schedule, {name: other}))
        if name in found.schedule.formats and name not in start.formats:
            dense = {n: f for n, f in found.schedule.formats.items() if n != name}
            found = _fewest(search, found, iter([replace(found.schedule, formats=dense)]))
    zeros = search.job.zeros
    shares = ", ".join(f"{100 * zeros[n].share:.0f} %" for n in formats if n in found.schedule.formats)
    return _stage(found, best, notes, f"of which {shares} are zeros")


def _fewest(search: Search, best: AutoChoice, schedules: Iterator[Schedule]) -> AutoChoice:
    """The best one, or the first of some schedules that can be, if that takes fewer cycles."""
    for schedule in schedules:
        found = search.tried(schedule)
        if found is not None:
            return found if found.cycles < CLEARLY * best.cycles else best
    return best


def _stored_as(program: Program, schedule: Schedule, formats: Mapping[str, Format]) -> Iterator[Schedule]:
    """The schedule with these formats, in the orders that it has, or else in others."""
    yield replace(schedule, formats={**schedule.formats, **{n: str(f) for n, f in formats.items()}})
    yield from _stored(program, schedule, formats)


def _nearly_full(search: Search, best: AutoChoice) -> AutoChoice:
    """The same with dense levels for intermediates that are nearly full."""
    schedule = in_modules(best.schedule, search.program, search.job.scopes)
    program = schedule.apply(search.program).bind({})
    densities = work_of(program, search.job.sizes()).densities
    formats = {}
    for decl in program.intermediates:
        fmt = decl.format
        if decl.name in search.given.formats or fmt.is_all_dense or fmt.block or decl.rank > 2:
            continue
        if densities[decl.name] > FULL:
            modes = ", ".join(map(str, fmt.mode_order))
            formats[decl.name] = "dense" if decl.rank < 2 else f"dense @ ({modes})"
    if not formats:
        return best
    return search.tried(replace(best.schedule, formats={**best.schedule.formats, **formats})) or best


def _stage(found: AutoChoice, best: AutoChoice, notes: list[str], why: str) -> AutoChoice:
    """What was found, if it is better."""
    if found.cycles >= CLEARLY * best.cycles:
        return best
    notes.append(_line(best, found, why))
    return found


STAGES: Mapping[str, Stage] = {
    "turned": lambda search, best, notes: _stage(
        _turned_round(search, best), best, notes, "so that what computes their operands streams"
    ),
    "zeros": _by_nonzeros,
    "full": lambda search, best, notes: _stage(_nearly_full(search, best), best, notes, "nearly full"),
}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With inputs stored the other way round, and with those of many zeros by their nonzeros."""
    program, schedule = at.job.program, in_modules(at.schedule, at.job.program, at.job.scopes)
    yield from turned_schedules(program, schedule)
    sparse = sparse_formats(at.job, schedule, at.job.schedule)
    for formats in (sparse, *({name: fmt} for name, fmt in sparse.items() if len(sparse) > 1)):
        if formats:
            yield from _stored_as(program, schedule, formats)


def _line(before: AutoChoice, after: AutoChoice, why: str) -> str:
    """What other formats gain."""
    known = before.schedule.formats
    changed = ", ".join(f"{n} {f}" for n, f in after.schedule.formats.items() if f != known.get(n))
    return f"formats: {changed}, {why} ({gain_words(before.cycles, after.cycles)})"
