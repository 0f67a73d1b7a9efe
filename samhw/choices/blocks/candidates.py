"""The blocks that a search tries."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from samhw.choices.choice import counts_text
from samhw.choices.schedule import Schedule
from samhw.compiler.search.tried import LARGER, AutoChoice, Search, Stage, Start, size_words
from samhw.lang import Program

__all__ = ["STAGES", "larger_blocks", "neighbours", "smaller_blocks", "unasked"]

MOST = 16
"""Coordinates of a block along an index that are tried."""


def larger_blocks(program: Program, schedule: Schedule, given: Schedule) -> Iterator[Schedule]:
    """The schedule with blocks twice as large along all indices, or along one.

    Args:
        program: with the extents of its data.
        given: the schedule that was asked for, whose blocks stay.
    """
    # Whatever its regions, of which PyTorch's modules are not known here.
    unfused = replace(schedule, blocks={}, fuse="partial", order={})
    extents = unfused.apply(program).dimensions.extents
    twice = {
        index: size
        for index, extent in extents.items()
        if (size := 2 * schedule.blocks.get(index, 1)) <= min(MOST, extent or 1)
        if index not in given.blocks
    }
    if len(twice) > 1:
        yield _with(schedule, twice)
    for index, size in twice.items():
        yield _with(schedule, {index: size})


def smaller_blocks(schedule: Schedule, given: Schedule) -> Iterator[Schedule]:
    """The schedule with blocks half as large along an index; `given` as for `larger_blocks`."""
    for index, size in schedule.blocks.items():
        if size > 1 and index not in given.blocks:
            yield _with(schedule, {index: size // 2})


def _with(schedule: Schedule, blocks: Mapping[str, int]) -> Schedule:
    sizes = {**schedule.blocks, **blocks}
    return replace(schedule, blocks={index: sizes[index] for index in sorted(sizes) if sizes[index] > 1})


def _patterned(search: Search, best: AutoChoice) -> Iterator[Schedule]:
    """The schedule with blocks where the nonzeros of an input lie in such."""
    dimensions = search.program.dimensions
    for name, zeros in search.job.zeros.items():
        if zeros.block is not None:
            sizes = dict(zip(dimensions.of_tensor(name), zeros.block, strict=True))
            if not sizes.keys() & search.given.blocks.keys():
                yield _with(best.schedule, sizes)


def unasked(search: Search, best: AutoChoice) -> list[str]:
    """What is said of such blocks, if they are expected to help and were not to be tried."""
    if "blocks" in search.job.room.grows:
        return []
    found = _found(search, best, search.aside)
    if found is best:
        return []
    blocks = counts_text(found.schedule.blocks)
    return [f"no blocks, in which nonzeros lie: '--blocks {blocks}' expects {size_words(best, found)}"]


def _found(search: Search, best: AutoChoice, tried: Callable[[Schedule], AutoChoice | None]) -> AutoChoice:
    """With such blocks, if these take fewer cycles."""
    ways = [way for way in map(tried, _patterned(search, best)) if way is not None and search.has_room(way)]
    found = min(ways, key=lambda way: way.cycles, default=best)
    return found if found.cycles < LARGER * best.cycles else best


def _blocked(search: Search, best: AutoChoice, notes: list[str]) -> AutoChoice:
    """With blocks as long as larger ones are worth it and there is room for them."""
    if "blocks" not in search.job.room.grows:
        return best
    found = _found(search, best, search.tried)
    found = search.grown(found, lambda way: larger_blocks(search.program, way.schedule, search.given))
    if found is not best:
        notes.append(f"blocks: {counts_text(found.schedule.blocks)}, {size_words(best, found)}")
    return found


STAGES: Mapping[str, Stage] = {"larger": _blocked}


def neighbours(at: Start) -> Iterator[Schedule]:
    """With larger and smaller blocks, if those are to be tried."""
    if "blocks" in at.job.room.grows:
        yield from larger_blocks(at.job.program, at.schedule, at.job.schedule)
        yield from smaller_blocks(at.schedule, at.job.schedule)
