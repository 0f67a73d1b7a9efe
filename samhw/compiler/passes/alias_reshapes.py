"""Reshapes that are aliases: both sides are dense and row-major, so that the elements of the one lie in
memory as those of the other do, and nothing has to move."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from samhw.choices.place import in_words
from samhw.compiler.passes.lowerable import Lowerable
from samhw.lang import Program, Region, Reshape, Statement

__all__ = ["alias_reshapes"]


def alias_reshapes(lowerable: Lowerable) -> Lowerable:
    """The program in which the result of a reshape lies in the memories of what is reshaped: whoever reads it
    there takes the other extents, and no region makes it.

    Reshapes stand alone, before or after the regions that had them. One has a region where elements
    must move after all: from an input to a result, which the host reads where a region has written it, and
    between two places of memory.
    """
    program = lowerable.program
    if not any(region.reshapes for region in program.regions):
        return lowerable
    regions = [part for region in program.regions for part in _apart(region)]
    aliases: dict[str, str] = {}
    copied: dict[str, str] = {}
    for region in regions:
        # The compiler refuses an order for a reshape.
        if not region.reshapes or region.order is not None:
            continue
        (statement,) = region.statements
        (operand,) = statement.reads
        result, source = statement.lhs.tensor, aliases.get(operand.tensor, operand.tensor)
        if why := _why_copied(program, source, result, lowerable.schedule.place):
            copied[result] = why
        else:
            aliases[result] = source
    # Statements in another order have dimensions of other names, which the capacities go by.
    moved = lowerable.with_program(replace(program, regions=tuple(regions)))
    return replace(moved, aliases=aliases, copied_shapes=copied)


def _apart(region: Region) -> Iterator[Region]:
    """A region, with each of its reshapes in one of its own: before it, or after it if the region makes
    what is reshaped."""
    rest = tuple(s for s in region.statements if not isinstance(s.rhs, Reshape))
    if not rest:
        yield from [region] if len(region.statements) == 1 else map(_alone, region.statements)
        return
    written = {statement.lhs.tensor for statement in rest}
    behind = []
    for statement in region.statements:
        if isinstance(statement.rhs, Reshape):
            if statement.rhs.operand.tensor in written:
                behind.append(statement)
            else:
                yield _alone(statement)
    yield replace(region, statements=rest)
    yield from map(_alone, behind)


def _alone(statement: Statement) -> Region:
    return Region((statement,))


def _why_copied(program: Program, source: str, result: str, place: Mapping[str, str]) -> str:
    """Why a tensor in another shape cannot stay where it lies; empty if it can."""
    given = {decl.name for decl in program.inputs}
    asked = {decl.name for decl in program.outputs}
    if source in given and result in asked:
        return f"the host reads the result {result} where a region has written it, and {source} is an input"
    if (there := place.get(source)) and (wanted := place.get(result)) and there != wanted:
        return f"the schedule has {in_words(source, there)}, and {in_words(result, wanted)}"
    return ""
