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
    if e in space.streams:
        return []
    if isinstance(e, Reduce):
        return [e]
    return list(dict.fromkeys(reduce for operand in operands(e) for reduce in closed(space, operand)))


def ready(builder: TableBuilder, space: Space, e: Einsum) -> Iterator[Own]:
    """What is to be lowered in a space of its own before e goes down its next row."""
    yield from _reductions(builder, space, e)
    if ahead := builder.rows_ahead(e, space.bound):
        yield from _due(space, e, ahead[0])


def _reductions(builder: TableBuilder, space: Space, e: Einsum) -> Iterator[Reduce]:
    """The reductions of e whose outer rows are done. One within another waits with it, unless the next row
    lies inside of it: then it would come too late."""
    ahead = builder.rows_ahead(e, space.bound)
    outermost = closed(space, e)
    for reduce, rows in _nested(space, e, frozenset()):
        if _is_ready(builder, space, reduce, rows):
            late = bool(ahead) and ahead[0] in reduce.free and _lies_inside(builder, ahead[0], reduce)
            if late or reduce in outermost:
                yield reduce


def _due(space: Space, e: Einsum, row: str) -> Iterator[Segment | Sieve]:
    """The patterns and parts whose last row that is; of those in a reduction, the ones for which it comes
    before the reduction's own."""
    if e in space.streams or (isinstance(e, Reduce) and row not in e.free):
        return
    if isinstance(e, Segment) and e.index == row:
        yield e
    if isinstance(e, Sieve) and e.free - space.bound == {row}:
        yield e
    for operand in operands(e):
        yield from _due(space, operand, row)


def _nested(space: Space, e: Einsum, rows: frozenset[str]) -> Iterator[tuple[Reduce, frozenset[str]]]:
    """The reductions below e that are no streams of the space yet, each before those within it, and the rows
    that it and what is around it go down."""
    rows |= e.free
    for reduce in closed(space, e):
        yield reduce, rows
        yield from _nested(space, reduce.operand, rows)


def _is_ready(builder: TableBuilder, space: Space, reduce: Reduce, rows: frozenset[str]) -> bool:
    """The rows outside of a reduction are done."""
    # What leaves a reduction with levels of its own must meet the very next rows.
    has_levels = any(_lies_inside(builder, index, reduce) for index in reduce.free)
    outside = rows | reduce.free if has_levels else reduce.free
    return all(index in space.bound or _lies_inside(builder, index, reduce) for index in outside)


def _lies_inside(builder: TableBuilder, row: str, reduce: Reduce) -> bool:
    """The row comes after that of the reduction's index."""
    return builder.position[reduce.index] < builder.position[row]
