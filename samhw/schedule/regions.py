"""The regions of a program, and their orders, as a schedule asks for them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from samhw.errors import InputError
from samhw.frontend import Program, Region, Statement

__all__ = ["ordered", "regions_of"]


def regions_of(program: Program, fuse: str | Sequence[Sequence[str]]) -> list[Region]:
    """The program's statements in other regions, to the same results; `fuse` as `Schedule` has it.

    Raises:
        InputError: for lists that the statements cannot be grouped by.
    """
    match fuse:
        case "partial":
            return [part for region in program.regions for part in _cut(region)]
        case "none":
            return [Region((statement,)) for statement in program.statements]
        case "full":
            return list(_merged(program.statements))
        case "module":
            raise InputError(
                f"'{program.name}' is no module of PyTorch, by whose tree 'module' fuses; fuse it another "
                "way, or name the function that gives the module, as in model.py:NAME."
            )
        case str():
            raise ValueError(f"{fuse} is no level of fusion")
    return list(_listed(program, fuse))


def ordered(
    program: str, regions: Sequence[Region], order: Sequence[str] | Mapping[str, Sequence[str]]
) -> tuple[Region, ...]:
    """Regions with their orders, each under its last result's name.

    Raises:
        InputError: for one order where there are several regions, or a name that is no region's last result.
    """
    names = [region.statements[-1].lhs.tensor for region in regions]
    if not isinstance(order, Mapping):
        if len(names) != 1:
            raise InputError(
                f"'{program}' has {len(names)} regions, so one order does not fit them all; write the orders "
                "into the program, or into a schedule by each region's last result."
            )
        order = dict.fromkeys(names, order)
    for result in order:
        if result not in names:
            raise InputError(
                f"There is an order for '{result}', which is no region's last result; the regions of "
                f"'{program}' end with {', '.join(names)}."
            )
    return tuple(
        replace(region, label=name, order=tuple(order[name]) if name in order else region.order)
        for name, region in zip(names, regions, strict=True)
    )


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
    """A region for each list, and for each statement that none names."""
    place = {statement.lhs.tensor: n for n, statement in enumerate(program.statements)}
    known = ", ".join(place)
    done = 0
    for names in lists:
        for name in names:
            if name not in place:
                raise InputError(
                    f"'fuse' names '{name}', which no statement of '{program.name}' computes; its statements "
                    f"compute {known}."
                )
        first = place[names[0]]
        if first < done or [place[name] for name in names] != list(range(first, first + len(names))):
            raise InputError(
                f"'fuse' has the region {', '.join(names)} out of order; the statements of '{program.name}' "
                f"compute {known}, and a region is some that follow each other, each of them once."
            )
        yield from (Region((statement,)) for statement in program.statements[done:first])
        done = first + len(names)
        yield from _merged(program.statements[first:done])
    yield from (Region((statement,)) for statement in program.statements[done:])
