"""When what has a space of its own is lowered: a reduction once the rows outside of it are done, so that no
further row repeats it; the pattern of an intermediate, and a part of a concatenation, right before its last
row."""

from collections.abc import Iterator

from samhw.compiler.einsum import Einsum, Reduce, Segment, Sieve, operands
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import Space

__all__ = ["Own", "closed", "ready"]

Own = Reduce | Segment | Sieve
"""What has a space of its own."""


def closed(space: Space, e: Einsum) -> list[Reduce]:
    """The outermost reductions of e that are no streams of the space yet."""
    found: dict[Reduce, None] = {}
    seen: set[Einsum] = set()

    def visit(below: Einsum) -> None:
        if below in seen or below in space.streams:
            return
        seen.add(below)
        if isinstance(below, Reduce):
            found[below] = None
            return
        for operand in operands(below):
            visit(operand)

    visit(e)
    return list(found)


def ready(builder: TableBuilder, space: Space, e: Einsum) -> Iterator[Own]:
    """What is to be lowered in a space of its own before e goes down its next row."""
    yield from _reductions(builder, space, e)
    if ahead := builder.rows_ahead(e, space.bound):
        yield from _due(space, e, ahead[0], set())


def _reductions(builder: TableBuilder, space: Space, e: Einsum) -> Iterator[Reduce]:
    """The reductions of e whose outer rows are done. One within another waits with it, unless the next row
    lies inside of it: then it would come too late."""
    ahead = builder.rows_ahead(e, space.bound)
    outermost = closed(space, e)
    for reduce, rows in _nested(space, e, frozenset(), set()):
        if _is_ready(builder, space, reduce, rows):
            late = bool(ahead) and ahead[0] in reduce.free and _lies_inside(builder, ahead[0], reduce)
            if late or reduce in outermost:
                yield reduce


def _due(space: Space, e: Einsum, row: str, seen: set[Einsum]) -> Iterator[Segment | Sieve]:
    """The patterns and parts whose last row that is, each once; of those in a reduction, the ones for which
    it comes before the reduction's own. What has been `seen` has given its own already."""
    if e in seen or e in space.streams or (isinstance(e, Reduce) and row not in e.free):
        return
    seen.add(e)
    if isinstance(e, Segment) and e.index == row:
        yield e
    if isinstance(e, Sieve) and e.free - space.bound == {row}:
        yield e
    for operand in operands(e):
        yield from _due(space, operand, row, seen)


def _nested(
    space: Space, e: Einsum, rows: frozenset[str], seen: set[tuple[Einsum, frozenset[str]]]
) -> Iterator[tuple[Reduce, frozenset[str]]]:
    """The reductions below e that are no streams of the space yet, each before those within it, and the rows
    that it and what is around it go down; once for all ways to it along the same rows, which are `seen`."""
    rows |= e.free
    for reduce in closed(space, e):
        if (reduce, rows) not in seen:
            seen.add((reduce, rows))
            yield reduce, rows
            yield from _nested(space, reduce.operand, rows, seen)


def _is_ready(builder: TableBuilder, space: Space, reduce: Reduce, rows: frozenset[str]) -> bool:
    """The rows outside of a reduction are done."""
    # What leaves a reduction with levels of its own must meet the very next rows.
    has_levels = any(_lies_inside(builder, index, reduce) for index in reduce.free)
    outside = rows | reduce.free if has_levels else reduce.free
    return all(index in space.bound or _lies_inside(builder, index, reduce) for index in outside)


def _lies_inside(builder: TableBuilder, row: str, reduce: Reduce) -> bool:
    """The row comes after that of the reduction's index."""
    return builder.position[reduce.index] < builder.position[row]
