"""The regions of a program, as a schedule asks for them."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import groupby, pairwise

from samhw.errors import InputError
from samhw.lang import Program, Region, Statement
from samhw.lang.fusion import kind_groups

__all__ = ["in_sequence", "regions_of"]


def regions_of(program: Program, fuse: str | Sequence[Sequence[str]]) -> list[Region]:
    """The program's statements in other regions, to the same results; `fuse` as `Schedule` has it.

    Raises:
        InputError: for lists that the statements cannot be grouped by.
    """
    match fuse:
        case "partial" | "auto":
            return [part for region in program.regions for part in _cut(region)]
        case "none":
            return [Region((statement,)) for statement in program.statements]
        case "full":
            return list(_merged(program.statements))
        case "kinds":
            groups = [list(part) for group in kind_groups(program) for part in _by_scan(group)]
            sequence, needed = in_sequence(program, groups)
            if needed:
                raise InputError(
                    f"'kinds' makes regions of '{program.name}' that need each other, through {needed[1]}; "
                    "fuse it another way."
                )
            return [part for group in sequence for part in _merged(groups[group])]
        case "module":
            raise InputError(
                f"'{program.name}' is no module of PyTorch, by whose tree 'module' fuses; fuse it another "
                "way, or name the function that gives the module, as in model.py:NAME."
            )
        case str():
            raise ValueError(f"{fuse} is no level of fusion")
    return list(_listed(program, fuse))


def _cut(region: Region) -> Iterator[Region]:
    """A region, which ends where it reads in another shape what it computes."""
    parts = list(_merged(region.statements))
    return iter(parts if len(parts) > 1 else [region])


def _merged(statements: Sequence[Statement]) -> Iterator[Region]:
    """The fewest regions of statements that may be in one."""
    run: list[Statement] = []
    for statement in statements:
        if not statement.joins(run):
            yield Region(tuple(run))
            run = []
        run.append(statement)
    if run:
        yield Region(tuple(run))


def _listed(program: Program, lists: Sequence[Sequence[str]]) -> Iterator[Region]:
    """A region for each list, in their order, and for each statement that none names."""
    statements = program.statements
    place = {statement.lhs.tensor: n for n, statement in enumerate(statements)}
    known = ", ".join(place)
    left = dict.fromkeys(place)
    for names in lists:
        for name in names:
            program.check_computed("fuse", [name])
            if name not in left:
                raise InputError(f"'fuse' names '{name}' twice; a statement is of one region.")
            del left[name]
        places = [place[name] for name in names]
        if places != sorted(places):
            raise InputError(
                f"'fuse' has the region {', '.join(names)} out of order; the statements of '{program.name}' "
                f"compute {known}."
            )
    named = [*lists, *([name] for name in left)]
    groups = [[statements[place[name]] for name in names] for names in named]
    for members, statements_of in zip(named, groups, strict=True):
        if len({statement.scan for statement in statements_of}) > 1:
            raise InputError(
                f"'fuse' has {', '.join(members)} in one region, and a scan repeats only some of them; give "
                "them regions of their own."
            )
    sequence, needed = in_sequence(program, groups, len(lists))
    if needed:
        group, missing = needed
        raise InputError(
            f"'fuse' has the region {', '.join(named[group])} out of order: it needs {missing}, which comes "
            "later; name that in it too, or in a list before it."
        )
    for group in sequence:
        yield from _merged(groups[group])


def in_sequence(
    program: Program, groups: Sequence[Sequence[Statement]], given: int = 0
) -> tuple[list[int], tuple[int, str] | None]:
    """Groups of a program's statements in an order that the data flow permits: of those whose operands are
    there, always the one that begins first in the program. The groups of a scan stand together.

    Args:
        given: how many of the groups, from the first one on, stay in their order.

    Returns:
        The numbers of groups in this order; and if some are left, the first of them, with what it reads of
        another one that is left.
    """
    units = _units(program, groups)
    whole = [[statement for n in unit for statement in groups[n]] for unit in units]
    listed = sum(unit[0] < given for unit in units)
    places, needed = _in_order(program, whole, listed)
    sequence: list[int] = []
    for place in places:
        unit = units[place]
        inner, missing = _in_order(program, [groups[n] for n in unit], in_step=True)
        sequence += [unit[n] for n in inner]
        if missing:
            return sequence, (unit[missing[0]], missing[1])
    return sequence, needed and (units[needed[0]][0], needed[1])


def _in_order(
    program: Program, groups: Sequence[Sequence[Statement]], given: int = 0, *, in_step: bool = False
) -> tuple[list[int], tuple[int, str] | None]:
    """As `in_sequence`, of groups of which no scan repeats several.

    Args:
        in_step: of those of one scan, for which what its earlier steps have given is there.
    """
    home = {statement.lhs.tensor: n for n, group in enumerate(groups) for statement in group}
    first: dict[int, int] = {}
    for place, tensor in enumerate(statement.lhs.tensor for statement in program.statements):
        if tensor in home:
            first.setdefault(home[tensor], place)
    reads = [
        {
            access.tensor: home[access.tensor]
            for statement in group
            for access in statement.needs
            if home.get(access.tensor, n) != n and not (in_step and access.step and access.step[1].offset)
        }
        for n, group in enumerate(groups)
    ]
    left = [set(read.values()) for read in reads]
    for earlier, later in pairwise(range(given)):
        left[later].add(earlier)
    behind: list[list[int]] = [[] for _ in groups]
    for later, waits in enumerate(left):
        for earlier in waits:
            behind[earlier].append(later)
    ready = [(first[n], n) for n, waits in enumerate(left) if not waits]
    heapify(ready)
    sequence: list[int] = []
    while ready:
        _, n = heappop(ready)
        sequence.append(n)
        for later in behind[n]:
            left[later].remove(n)
            if not left[later]:
                heappush(ready, (first[later], later))
    done = set(sequence)
    for n, read in enumerate(reads):
        if n not in done:
            return sequence, (n, next(tensor for tensor, other in read.items() if other not in done))
    return sequence, None


def _units(program: Program, groups: Sequence[Sequence[Statement]]) -> list[list[int]]:
    """The numbers of groups, those of one scan together."""
    units: dict[object, list[int]] = {}
    for n, group in enumerate(groups):
        units.setdefault(n if group[0].scan is None else group[0].scan, []).append(n)
    return list(units.values())


def _by_scan(group: Sequence[Statement]) -> Iterator[tuple[Statement, ...]]:
    """A group in parts, each of what one scan repeats, or none."""
    for _, part in groupby(sorted(group, key=_scan_number), key=_scan_number):
        yield tuple(part)


def _scan_number(statement: Statement) -> int:
    return -1 if statement.scan is None else statement.scan.number
