"""Reducers: what comes out of the space of a reduction."""

from collections.abc import Mapping, Sequence

from samhw.compiler.einsum import RECUR, Reduce
from samhw.compiler.fusion_table import Feed, PlannedOutput
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import FULL, RowStream, Space, ValueStream
from samhw.compiler.value_choice import counts_to
from samhw.errors import InputError, StreamError
from samhw.graph.numerics import ValueType
from samhw.graph.spec import COORDINATE
from samhw.lang import COORDINATES, MOST_RANKS, RANKINGS

__all__ = ["reduced"]


def reduced(
    builder: TableBuilder,
    reduce: Reduce,
    rows: Sequence[RowStream],
    values: Mapping[str, Feed],
    outside: Space,
    order: Sequence[str] = (),
) -> ValueStream:
    """The stream that leaves a reducer.

    Args:
        rows: of the reduction's space, that of its index first.
        values: the values inside of these rows, by the port of the reducer.
        outside: the space around the reduction.
        order: of the indices that the reduction keeps, as they come out; else that of the rows.
    """
    assert rows[0].index == reduce.index
    kept, depth = rows[1:], outside.depth
    if reduce.rank is not None:
        return _ranked(builder, reduce, reduce.rank, rows, values["val"], outside)
    label = f"{'Red' if reduce.op == 'sum' else reduce.op.capitalize()}{len(kept)}_{reduce.index}"
    table, name = builder.table, reduce.name
    is_recurrence = reduce.op == RECUR
    op = {} if is_recurrence else {"op": reduce.op}
    if reduce.op in COORDINATES:
        val = _coordinate(builder, reduce, rows, values["val"], depth)
        table.fill(table.val, name, val, label)
        return ValueStream(val)
    if not kept:
        if is_recurrence:
            running = builder.make("recur", name, depth + 1, dict(values))
            node = builder.make("last", name, depth + 1, {"val": running.output("val")})
        else:
            node = builder.make("reduce_scalar", name, depth + 1, dict(values), **op)
        table.fill(table.val, name, node.output("val"), label)
        return ValueStream(node.output("val"))
    held = _held(builder, name, kept, depth)
    innermost_first = list(reversed(order or [row.index for row in kept]))
    inputs = {f"crd{n}": held[index] for n, index in enumerate(innermost_first)}
    bits = [max(1, (builder.extent(index) - 1).bit_length()) for index in innermost_first]
    kind = "recur_vector" if is_recurrence else "reduce_vector"
    node = builder.make(kind, name, depth + 1 + len(kept), {**inputs, **values}, **op, bits=bits)
    pending: list[RowStream] = []
    for n, index in enumerate(innermost_first):
        # A row takes its coordinates by the planned output, since joining the row moves the cell.
        crd = node.output(f"crd{n}")
        table.fill(index, name, crd, f"{label}[crd{n}]")
        pending.insert(0, RowStream(index, crd, None))
    table.fill(table.val, name, node.output("val"), f"{label}[val]")
    return ValueStream(node.output("val"), tuple(pending))


def _coordinate(
    builder: TableBuilder, reduce: Reduce, rows: Sequence[RowStream], val: Feed, depth: int
) -> Feed:
    """The coordinate of an extreme, as a number of the program's type.

    Raises:
        StreamError: for rows inside of that of the reduction.
        InputError: for a type that does not have all coordinates.
    """
    row = _innermost(builder, reduce, rows)
    kind = _counting(builder, reduce)
    op = COORDINATES[reduce.op]
    arg = builder.make("arg", reduce.name, depth + 1, {"crd": row.crd, "val": val}, op=op)
    return _number(builder, arg.output("val"), depth, kind)


def _ranked(
    builder: TableBuilder,
    reduce: Reduce,
    rank: str,
    rows: Sequence[RowStream],
    val: Feed,
    outside: Space,
) -> ValueStream:
    """The best values along an index in order, or their coordinates, along all of another index.

    Raises:
        StreamError: for rows inside of that of the reduction.
        InputError: for more values than can be kept, and a type that does not have all coordinates.
    """
    row = _innermost(builder, reduce, rows)
    gives_places = reduce.op.startswith("arg")
    kind = _counting(builder, reduce) if gives_places else builder.value
    k = builder.extent(rank)
    if k > MOST_RANKS:
        raise InputError(
            f"{reduce.op} along {reduce.index} in '{builder.title}' puts as many as {k:,} values in order, "
            f"and hardware keeps {MOST_RANKS}; declare an extent of at most {MOST_RANKS} for {rank}."
        )
    depth, table, name = outside.depth, builder.table, reduce.name
    scan = builder.make(
        *("scan_dense", f"{name}_{rank}", depth, {"ref": outside.crd}),
        index=rank,
        extent=builder.dimension[rank],
    )
    crd = scan.output("crd")
    inputs: dict[str, Feed] = {"crd": row.crd, "val": val, "rank": crd}
    gives = "places" if gives_places else "values"
    made = builder.make("top_k", name, depth + 1, inputs, op=RANKINGS[reduce.op], gives=gives, k=k)
    best = made.output("val")
    if gives_places:
        best = _number(builder, best, depth + 1, kind)
    label = f"{reduce.op.capitalize()}{k}_{reduce.index}"
    table.fill(rank, name, crd, f"{label}[{rank}]")
    table.fill(table.val, name, best, label)
    return ValueStream(best, (RowStream(rank, crd, FULL),))


def _innermost(builder: TableBuilder, reduce: Reduce, rows: Sequence[RowStream]) -> RowStream:
    """The row of a reduction that has no others inside; raises `StreamError` where it has."""
    row, *inside = rows
    if inside:
        raise StreamError(
            f"'{builder.title}' takes {reduce.op} along {reduce.index}, with {inside[0].index} inside of it",
            f"choose an order in which {reduce.index} comes after {inside[0].index}",
        )
    return row


def _counting(builder: TableBuilder, reduce: Reduce) -> ValueType:
    """The type of coordinates. Raises `InputError` for one that does not have all of them."""
    last, kind = builder.extent(reduce.index) - 1, reduce.value or builder.value
    if not counts_to(kind, last):
        raise InputError(
            f"The coordinates of {reduce.op} along {reduce.index} in '{builder.title}' go up to {last:,}, "
            f"which {kind} cannot count to; choose a wider type "
            "(--value)."
        )
    return kind


def _number(builder: TableBuilder, coordinate: PlannedOutput, depth: int, kind: ValueType) -> PlannedOutput:
    """A coordinate as a number of a type."""
    if kind == COORDINATE:
        return coordinate
    inputs: dict[str, Feed] = {"a": coordinate}
    number = builder.make("alu", "convert", depth, inputs, op="convert", value=COORDINATE, to=kind)
    return number.output("val")


def _held(builder: TableBuilder, name: str, kept: Sequence[RowStream], depth: int) -> dict[str, Feed]:
    """The coordinates of each row, as often as the innermost one has any."""
    result: dict[str, Feed] = {}
    for place, row in enumerate(kept):
        crd = row.crd
        for inner in range(place + 1, len(kept)):
            hold = builder.make(
                "crd_hold",
                f"{name}_{row.index}_{kept[inner].index}",
                depth + 1 + inner,
                {"outer": crd, "inner": kept[inner].crd},
            )
            crd = hold.output("crd")
        result[row.index] = crd
    return result
