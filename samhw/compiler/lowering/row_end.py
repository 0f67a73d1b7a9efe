"""The end of a row: every coordinate where all are wanted, and the operands that have no say in them."""

from collections.abc import Iterable
from dataclasses import replace

from samhw.compiler.einsum import Einsum, View
from samhw.compiler.lowering.goal import Fill, Goal
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting
from samhw.compiler.lowering.row import OpenRow, title_of
from samhw.compiler.lowering.scans import Scanner
from samhw.compiler.lowering.space import FULL, RowStream
from samhw.errors import ScheduleError

__all__ = ["RowEnd"]


class RowEnd:
    """Makes of a bundle the coordinates of a row."""

    def __init__(self, row: OpenRow, scanner: Scanner, joiner: StreamJoiner, goal: Goal):
        self._row = row
        self._scanner = scanner
        self._joiner = joiner
        self._goal = goal

    def finish(self, found: Bundle) -> tuple[RowStream, Bundle]:
        """The row's coordinates, and with them every operand that the row advances."""
        fill = self._goal.fill(self._row.index)
        if found.everywhere and fill is Fill.NONE and found.optional:
            raise self._unbounded(found.optional)
        every = fill is Fill.ALL or found.everywhere
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

    def _unbounded(self, optional: Iterable[Bundle]) -> ScheduleError:
        index = self._row.index
        return ScheduleError(
            f"'{self._row.builder.title}' has a value at every {index}, but {_stored(optional)} only some "
            f"{index}; restrict the statement to its coordinates with 'where', or give it, or a result that "
            f"has {index}, a dense level {index}."
        )

    def _unfilled(self, nested: Einsum) -> ScheduleError:
        index = self._row.index
        return ScheduleError(
            f"'{self._row.builder.title}' is dense in {index}, but {title_of(nested)} gives only some "
            f"{index}, each with a fiber inside; store the result with a compressed level {index}, such as "
            "'csf', or choose another order."
        )


def _stored(bundles: Iterable[Bundle]) -> str:
    """The first tensor whose coordinates are joined, by the name that the program has for it."""
    for bundle in bundles:
        for operand, _ in bundle.stream.payloads.streams if bundle.stream else ():
            if isinstance(operand, View):
                return f"{operand.tensor} stores"
    return "its operands store"
