"""When what has a space of its own is lowered: a reduction once the rows outside of it are done, so that no
further row repeats it; a running reduction, the pattern of an intermediate, and a part of a concatenation,
right before its last row."""

from collections.abc import Callable, Iterator

from samhw.compiler.einsum import Einsum, Reduce, RunningReduce, Segment, Sieve
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import Space

__all__ = ["Own", "closed", "ready"]

Own = Reduce | RunningReduce | Segment | Sieve
"""What has a space of its own."""


Where = Callable[[Einsum], bool]
"""Which einsums are looked into."""


def everywhere(_: Einsum) -> bool:
    """All of them are."""
    return True


def closed(space: Space, e: Einsum, where: Where = everywhere) -> list[Reduce]:
    """The outermost reductions of e that are not streams of the space yet."""
    found: list[Reduce] = []
    seen: set[Einsum] = set()
    left = [e]
    while left:
        below = left.pop()
        if below in seen or below in space.streams or not where(below):
            continue
        seen.add(below)
        if isinstance(below, Reduce):
            found.append(below)
        else:
            left.extend(reversed(below.operands))
    return found


def ready(builder: TableBuilder, space: Space, e: Einsum, where: Where = everywhere) -> Iterator[Own]:
    """What is to be lowered in a space of its own before e goes down its next row."""
    ahead = builder.rows_ahead(e, space.bound)
    row = ahead[0] if ahead else None
    yield from _reductions(builder, space, e, row, where)
    if row is not None:
        yield from _due(space, e, row, where, set())


def _reductions(
    builder: TableBuilder, space: Space, e: Einsum, row: str | None, where: Where
) -> Iterator[Reduce]:
    """The reductions of e whose outer rows are done. One within another waits with it, unless the next row
    lies inside of it: then it would come too late."""
    outermost = closed(space, e, where)
    for reduce, rows in _nested(space, outermost, row, e.free, where, set()):
        if _is_ready(builder, space, reduce, rows):
            late = row is not None and row in reduce.free and _lies_inside(builder, row, reduce)
            if late or reduce in outermost:
                yield reduce


def _due(
    space: Space, e: Einsum, row: str, where: Where, seen: set[Einsum]
) -> Iterator[RunningReduce | Segment | Sieve]:
    """The running reductions, patterns and parts whose last row that is, each once; of those in a reduction,
    the ones for which it comes before the reduction's own. What has been `seen` has given its own already."""
    if row not in e.free_of_parts or e in seen or e in space.streams or not where(e):
        return
    if isinstance(e, Reduce) and row not in e.free:
        return
    seen.add(e)
    if isinstance(e, Segment) and e.index == row:
        yield e
    if isinstance(e, RunningReduce | Sieve) and e.free - space.bound == {row}:
        yield e
    for operand in e.operands:
        yield from _due(space, operand, row, where, seen)


def _nested(
    space: Space,
    reductions: list[Reduce],
    row: str | None,
    rows: frozenset[str],
    where: Where,
    seen: set[tuple[Reduce, frozenset[str]]],
) -> Iterator[tuple[Reduce, frozenset[str]]]:
    """The reductions, each before those within it that have the next row, with the rows that it and what is
    around it go down; once for all ways to it along the same rows, which are `seen`.

    Args:
        rows: of what is around them.
    """
    for reduce in reductions:
        if (reduce, rows) not in seen:
            seen.add((reduce, rows))
            yield reduce, rows
            below = reduce.operand
            if row in below.free_of_reductions:
                within = closed(space, below, where)
                yield from _nested(space, within, row, rows | below.free, where, seen)


def _is_ready(builder: TableBuilder, space: Space, reduce: Reduce, rows: frozenset[str]) -> bool:
    """The rows outside of a reduction are done."""
    # What leaves a reduction with levels of its own must meet the very next rows.
    has_levels = any(_lies_inside(builder, index, reduce) for index in reduce.free)
    outside = rows | reduce.free if has_levels else reduce.free
    return all(index in space.bound or _lies_inside(builder, index, reduce) for index in outside)


def _lies_inside(builder: TableBuilder, row: str, reduce: Reduce) -> bool:
    """The row comes after that of the reduction's index."""
    return builder.position[reduce.index] < builder.position[row]
