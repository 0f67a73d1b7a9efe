"""Reducers: what comes out of the space of a reduction."""

from collections.abc import Mapping, Sequence

from samhw.compiler.einsum import RECUR, Reduce
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import RowStream, ValueStream
from samhw.compiler.table import Feed
from samhw.compiler.value import counts_to
from samhw.errors import InputError, StreamError
from samhw.frontend import COORDINATES
from samhw.spec import COORDINATE

__all__ = ["reduced"]


def reduced(
    builder: TableBuilder,
    reduce: Reduce,
    rows: Sequence[RowStream],
    values: Mapping[str, Feed],
    depth: int,
    order: Sequence[str] = (),
) -> ValueStream:
    """The stream that leaves a reducer.

    Args:
        rows: of the reduction's space, that of its index first.
        values: the values inside of these rows, by the port of the reducer.
        depth: of the rows outside of the reduction.
        order: of the indices that the reduction keeps, as they come out; else that of the rows.
    """
    assert rows[0].index == reduce.index
    kept = rows[1:]
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
    row, *inside = rows
    if inside:
        raise StreamError(
            f"'{builder.title}' takes {reduce.op} along {reduce.index}, with {inside[0].index} inside of it",
            f"choose an order in which {reduce.index} comes behind {inside[0].index}",
        )
    last = builder.extent(reduce.index) - 1
    if not counts_to(builder.value, last):
        raise InputError(
            f"The coordinates of {reduce.op} along {reduce.index} in '{builder.title}' go up to {last:,}, "
            f"which {builder.value} cannot count to; choose a wider --value."
        )
    op = COORDINATES[reduce.op]
    arg = builder.make("arg", reduce.name, depth + 1, {"crd": row.crd, "val": val}, op=op)
    if builder.value == COORDINATE:
        return arg.output("val")
    inputs: dict[str, Feed] = {"a": arg.output("val")}
    number = builder.make("alu", "convert", depth, inputs, op="convert", value=COORDINATE, to=builder.value)
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
