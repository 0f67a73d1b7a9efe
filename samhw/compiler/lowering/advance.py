"""Takes every operand down a row: it takes up its payload of the row, is located there, or is repeated."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from samhw.compiler.einsum import Apply, Einsum, Intermediate, Number, Reduce, Unary, View, reachable
from samhw.compiler.lowering.lockstep import Bundle, OperandStream
from samhw.compiler.lowering.row import OpenRow
from samhw.compiler.lowering.space import RowStream, Space

__all__ = ["advance"]


def advance(row: OpenRow, e: Einsum, stream: RowStream, bundle: Bundle) -> None:
    """Takes e down a row.

    Args:
        stream: the row's coordinates.
        bundle: what comes along with them, and what is located.
    """
    assert bundle.stream is not None
    _take_up(row, bundle.stream.payloads.streams)
    taken = {payload.operand for payload in bundle.stream.payloads.streams}
    for view in bundle.located:
        if view not in taken:  # One use of it was scanned.
            _locate(row, view, stream)
    taken.update(bundle.located)
    for operand in _operands(row.space, e):
        if operand in taken:
            continue
        if isinstance(operand, View):
            _repeat_view(row, operand, stream)
        else:
            _repeat_stream(row, operand, stream)


def _operands(space: Space, e: Einsum) -> Iterator[View | Apply | Unary]:
    """The views and streams that a row of e advances, once each. What names the places of picks that are to
    come is among them, though its values may be in a stream already."""
    found: dict[View | Apply | Unary, None] = {}
    for node in reachable([e], space.streams):
        if isinstance(node, View) or (not isinstance(node, Number) and node in space.streams):
            found[node] = None
        if isinstance(node, View):
            level = space.cursor(node).level
            found.update(dict.fromkeys(picked.at for picked in node.picks if picked.level >= level))
    return iter(found)


def _take_up(row: OpenRow, payloads: Iterable[OperandStream]) -> None:
    """Operands that have the row go on with their payloads."""
    for operand, payload in payloads:
        if isinstance(operand, View):
            cursor = row.cursor(operand)
            cursor.ref = row.table.settle(row.index, operand.name, payload)
            cursor.level += 1
        elif operand is not None:
            # By the planned output, not by a cell: other spaces may take the stream up too.
            row.space.streams[operand] = replace(row.space.streams[operand], val=payload, pending=())
            if isinstance(operand, Reduce | Intermediate):
                row.show(operand.name, payload)


def _locate(row: OpenRow, view: View, stream: RowStream) -> None:
    cursor = row.cursor(view)
    inputs = {"ref": cursor.ref, "crd": stream.crd}
    level, locator = cursor.level, view.levels[cursor.level].locator
    assert locator is not None
    params = locator.params(view.tensor, level, lambda depth: row.extent)
    locate = row.make(locator.kind, f"{view.name}_{row.index}", inputs, **params)
    label = f"Locate({row.builder.text(cursor.ref)})"
    cursor.ref = row.fill(view.name, locate.output("ref"), label)
    cursor.level += 1


def _repeat_view(row: OpenRow, view: View, stream: RowStream) -> None:
    cursor = row.cursor(view)
    # What a sieve leaves are values.
    payload = "val" if view.sieve and cursor.level == len(view.levels) else "ref"
    inputs = {"ref": cursor.ref, "crd": stream.crd}
    repeat = row.make("repeat", f"{view.name}_{row.index}", inputs, payload=payload)
    cursor.ref = row.fill(view.name, repeat.output("ref"), f"Rep({row.builder.text(cursor.ref)})")


def _repeat_stream(row: OpenRow, operand: Apply | Unary, stream: RowStream) -> None:
    values = row.space.streams[operand]
    if values.pending:
        if values.pending[0].index != row.index:
            raise row.builder.refusal(operand, values, row.index)
        # The outer row of a nest: its own coordinates are the row's.
        row.space.streams[operand] = replace(values, pending=values.pending[1:])
        return
    name = operand.op if isinstance(operand, Apply) else operand.name
    inputs = {"ref": values.val, "crd": stream.crd}
    repeat = row.make("repeat", f"{name}_{row.index}", inputs, payload="val")
    label = f"Rep({row.builder.text(values.val)})"
    row.space.streams[operand] = replace(values, val=repeat.output("ref"))
    # An operation within a statement has no column.
    if not isinstance(operand, Apply) and row.table.get(row.index, name) is None:
        row.fill(name, repeat.output("ref"), label)
