"""A row of a fusion table: every operand is taken down it, and what its end asks of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from samhw.compiler.einsum import Apply, Einsum, Intermediate, Number, Reduce, Unary, View, reachable
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting, OperandStream
from samhw.compiler.lowering.row import OpenRow, title_of
from samhw.compiler.lowering.scans import Scanner
from samhw.compiler.lowering.space import FULL, RowStream, Space
from samhw.errors import StreamError

__all__ = [
    "Goal",
    "RowEnd",
    "advance",
]


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


@dataclass(frozen=True)
class Goal:
    """What the values are: a result, an intermediate or the operand of a reduction.

    Attributes:
        name: for scanners that stand for it.
        dense: the indices of which a result stores every coordinate.
    """

    name: str
    dense: frozenset[str] = frozenset()


class RowEnd:
    """Makes of a bundle the coordinates of a row."""

    def __init__(self, row: OpenRow, scanner: Scanner, joiner: StreamJoiner, goal: Goal):
        self._row = row
        self._scanner = scanner
        self._joiner = joiner
        self._goal = goal

    def finish(self, found: Bundle) -> tuple[RowStream, Bundle]:
        """The row's coordinates, and with them every operand that the row advances."""
        every = self._row.index in self._goal.dense or found.everywhere
        bundle = self._scanned(found, every=every)
        filled = every and not bundle.full
        if filled:
            bundle.stream = self._filled(bundle.stream)
        for optional in found.optional:
            self._bring(bundle, optional)
        stream = bundle.stream
        assert stream is not None
        row = RowStream(self._row.index, stream.crd, stream.domain, filled or bundle.zeros)
        # What can be located has all of its coordinates.
        payloads = stream.payloads.without(stream.payloads.partial.intersection(bundle.located))
        bundle.stream = replace(stream, payloads=payloads)
        return row, bundle

    def _scanned(self, found: Bundle, *, every: bool) -> Bundle:
        """A bundle of which a dense level is scanned, if nothing else gives the coordinates. Where references
        may be missing it does not give every one of them."""
        bundle = replace(found, located=tuple(sorted(found.located, key=self._row.is_missing)))
        complete = not all(map(self._row.is_missing, bundle.located))
        if bundle.stream is None and bundle.located and (complete or not every):
            bundle.complete = complete
            self._scanner.dense(bundle)
        return bundle

    def _filled(self, stream: Lockstep | None) -> Lockstep:
        """Every coordinate, with the payloads of a stream that has only some."""
        if stream is not None and stream.nested is not None:
            raise self._unfilled(stream.nested)
        every = self._scanner.every(self._goal.name)
        if stream is None:
            return every
        filled = self._joiner.join(Meeting.UNION, [stream, every])
        payloads = replace(stream.payloads, streams=filled.payloads.streams)
        return replace(stream, crd=filled.crd, domain=FULL, payloads=payloads)

    def _bring(self, bundle: Bundle, optional: Bundle) -> None:
        """Brings optional operands to the coordinates of a bundle."""
        for further in optional.optional:
            self._bring(bundle, further)
        bundle.located = tuple(dict.fromkeys((*bundle.located, *optional.located)))
        if optional.stream is not None:
            assert bundle.stream is not None
            bundle.stream = self._joiner.lead(bundle.stream, optional.stream)

    def _unfilled(self, nested: Einsum) -> StreamError:
        # What has values everywhere has no stream of its own, so that the result is what is dense.
        index, title = self._row.index, self._row.builder.title
        return StreamError(
            f"'{title}' is dense in {index}, but {title_of(nested)} gives only some {index}, "
            "each with a fiber inside",
            f"store the result with a compressed level {index}, such as 'csf'",
            "choose another order",
            result=self._goal.name,
        )
