"""The end of a row: every coordinate where all are wanted, and the operands that have no say in them."""

from dataclasses import dataclass, replace

from samhw.compiler.einsum import Einsum
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting
from samhw.compiler.lowering.row import OpenRow, title_of
from samhw.compiler.lowering.scans import Scanner
from samhw.compiler.lowering.space import FULL, RowStream
from samhw.errors import StreamError

__all__ = ["Goal", "RowEnd"]


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
