"""Where the operands of an expression meet at a row, and what each has to say in its coordinates there.

`roles` is the table of docs/compiler.md, *Who has a say*, in code.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from samhw.compiler.einsum import (
    CONCAT,
    EVERYWHERE,
    MASK,
    MUL,
    Apply,
    Einsum,
    Number,
    Segment,
    View,
    vanishes,
)
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting, OperandStream, Payloads
from samhw.compiler.lowering.row import OpenRow, title_of
from samhw.compiler.lowering.scans import Scanner
from samhw.compiler.lowering.space import FULL

__all__ = ["Bundles", "Rule", "roles"]


class Rule(Enum):
    """Whose coordinates an operation has."""

    INTERSECTION = "all leaders'"
    UNION = "any leader's"
    CONCATENATION = "its parts'"
    LEADER = "its leader's"
    ITSELF = "its operand's"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True)
class Roles:
    """The operands that lead, and those that count as zero where they have no coordinate."""

    rule: Rule
    leaders: tuple[Bundle, ...]
    optional: tuple[Bundle, ...] = ()


def roles(e: Apply, bundles: Sequence[Bundle | None]) -> Roles | None:
    """The roles of e's operands; None if e has no such row.

    Args:
        bundles: what each operand has at the row; None if nothing.
    """
    parts = _once(bundles)
    if not parts:
        return None
    match e.op:
        case op if op == MUL:
            bounded = not all(part.everywhere for part in parts)
            return Roles(Rule.INTERSECTION if bounded else Rule.EVERYWHERE, parts)
        case op if op == CONCAT:
            everywhere = any(part.everywhere for part in parts)
            return Roles(Rule.EVERYWHERE if everywhere else Rule.CONCATENATION, parts)
        case op if op == MASK and bundles[1] is not None:
            return Roles(Rule.LEADER, (bundles[1],), _once(bundles[:1]))
        case op if op in (MASK, EVERYWHERE):
            return Roles(Rule.ITSELF if parts[0].full else Rule.EVERYWHERE, parts)
        case "div" if bundles[0] is not None:
            return Roles(Rule.LEADER, (bundles[0],), parts[1:])
        case "select" if _is_led_by_branches(e, bundles):
            # Zero where both branches are, whatever the condition.
            branches = _once(bundles[1:])
            return Roles(_united(branches), branches, _once(bundles[:1]))
    # What lacks the row has one value all along it, zero or not.
    if any(part.full for part in parts) or (vanishes(e) and not _lacks(e.operands, bundles)):
        return Roles(_united(parts), parts)
    return Roles(Rule.EVERYWHERE, parts)


def _united(parts: Sequence[Bundle]) -> Rule:
    return Rule.EVERYWHERE if any(part.everywhere for part in parts) else Rule.UNION


def _is_led_by_branches(select: Apply, bundles: Sequence[Bundle | None]) -> bool:
    """The branches of a `select` have this row and are zero elsewhere, and so is the `select`."""
    branches = select.operands[1:]
    numbers = [o.value for o in branches if isinstance(o, Number)]
    return not any(numbers) and len(numbers) < len(branches) and not _lacks(branches, bundles[1:])


def _lacks(operands: Sequence[Einsum], bundles: Sequence[Bundle | None]) -> bool:
    """An operand has no such row, and so may be nonzero all along it."""
    return any(
        bundle is None and not isinstance(operand, Number)
        for operand, bundle in zip(operands, bundles, strict=True)
    )


def _once(bundles: Iterable[Bundle | None]) -> tuple[Bundle, ...]:
    """An operand that stands in several places joins once."""
    return tuple({id(bundle): bundle for bundle in bundles if bundle is not None}.values())


class Bundles:
    """What expressions have at a row, one bundle for each."""

    def __init__(self, row: OpenRow, scanner: Scanner, joiner: StreamJoiner):
        self._row = row
        self._scanner = scanner
        self._joiner = joiner
        self._done: dict[Einsum, Bundle | None] = {}

    def of(self, e: Einsum) -> Bundle | None:
        """What e has at the row, or None if it has no such row; the same object for the same expression."""
        if e not in self._done:
            self._done[e] = self._of(e)
        return self._done[e]

    def _of(self, e: Einsum) -> Bundle | None:
        if e in self._row.space.streams:
            return self._computed(e)
        match e:
            case View():
                return self._scanner.view(e)
            case Number():
                return None
            case Apply():
                parts = [self.of(operand) for operand in e.operands]
                found = roles(e, parts)
                if found is None:
                    return None
                bundle = self._apply(e, found)
                if e.op == MUL and not self._lacking(e.operands, parts) <= bundle.empty:
                    # The other factors have coordinates where this one lacks those of a row outside.
                    self._row.builder.makes_zeros = True
                return bundle
            case _:
                return self.of(e.operand)

    def _computed(self, e: Einsum) -> Bundle | None:
        """What has been computed gives the coordinates of its outermost row."""
        stream = self._row.space.streams[e]
        if not stream.pending or stream.pending[0].index != self._row.index:
            return None
        row, *further = stream.pending
        if further:
            return Bundle(Lockstep(row.crd, row.domain, nested=e))
        return Bundle(Lockstep(row.crd, row.domain, Payloads((OperandStream(e, stream.val),))))

    def _apply(self, e: Apply, found: Roles) -> Bundle:
        leaders = found.leaders
        match found.rule:
            case Rule.ITSELF:
                return leaders[0]
            case Rule.LEADER:
                bundle = leaders[0]
            case Rule.INTERSECTION:
                bundle = self.intersection(leaders)
            case Rule.UNION:
                bundle = self.union(leaders)
            case Rule.CONCATENATION:
                bundle = self._concatenation(e, leaders)
            case Rule.EVERYWHERE:
                bundle = _everywhere(leaders)
        return bundle.led(found.optional)

    def _lacking(self, factors: Iterable[Einsum], parts: Iterable[Bundle | None]) -> frozenset[str]:
        """The rows outside at which a factor that has no such row may be missing."""
        space = self._row.space
        missing = (space.missing(o) for o, part in zip(factors, parts, strict=True) if part is None)
        return frozenset[str]().union(*missing)

    def intersection(self, parts: Sequence[Bundle]) -> Bundle:
        """The coordinates that all parts have, but for those that are everywhere."""
        bounded = [part for part in parts if not part.everywhere]
        # What has values everywhere selects no coordinates.
        optional = (*_optional(parts), *(Bundle(located=p.located) for p in parts if p.everywhere))
        streams = [part.stream for part in bounded if part.stream is not None]
        located = _located(bounded)
        empty = frozenset[str]().union(*(part.empty for part in bounded))
        if any(map(self._row.is_missing, located)) and len(located) + len(streams) > 1:
            # Where a union above has brought in a coordinate, the operand that lacks it counts as zero.
            self._row.builder.makes_zeros = True
        if not streams:
            located = tuple(sorted(located, key=self._row.is_missing))
            complete = any(p.full for p in bounded)
            return Bundle(located=located, complete=complete, optional=optional, empty=empty)
        return replace(self._joined(Meeting.INTERSECTION, bounded, located, optional), empty=empty)

    def union(self, parts: Sequence[Bundle]) -> Bundle:
        """The coordinates that any part has; none is everywhere."""
        optional = _optional(parts)
        full = any(part.full for part in parts)
        empty = frozenset.intersection(*(part.empty for part in parts))
        unscanned = sorted((p for p in parts if p.stream is None), key=lambda p: not p.full)
        if len(unscanned) == len(parts) and full:
            return Bundle(located=_located(unscanned), complete=True, optional=optional, empty=empty)
        # One operand with every coordinate locates the others; without one, each gives those that it has.
        if not any(part.full for part in parts if part.stream is not None):
            for part in unscanned[:1] if full else unscanned:
                self._scanner.dense(part)
        return replace(self._joined(Meeting.UNION, parts, _located(parts), optional), empty=empty)

    def _concatenation(self, e: Apply, parts: Sequence[Bundle]) -> Bundle:
        """The coordinates of all parts of a concatenation. At the rows other than that along which it goes,
        they meet like the terms of a sum."""
        index = self._row.index
        views = [operand for operand in e.operands if isinstance(operand, View)]
        segments = [operand for operand in e.operands if isinstance(operand, Segment)]
        along = any(view.part is not None and view.part.index == index for view in views)
        if along or any(segment.index == index for segment in segments):
            # Parts that have all of their own coordinates make up the whole.
            whole = all(part.stream is not None and part.stream.domain is not None for part in parts)
            stream = self._joiner.join(Meeting.UNION, [p.stream for p in parts if p.stream is not None])
            bundle = Bundle(replace(stream, domain=FULL if whole else None))
        elif all(part.stream is None and not part.full for part in parts):
            # All are dense below coordinates that only some of them have.
            every = self._scanner.every(title_of(e.operands[0]))
            bundle = Bundle(Lockstep(every.crd, FULL), _located(parts))
        else:
            bundle = self.union(parts)
        bundle.zeros = any(v.indices[-1] == index and v.stores_fill for v in views) or any(
            self._row.space.streams[s].pending[0].filled for s in segments if s.index == index
        )
        return bundle

    def _joined(
        self,
        meeting: Meeting,
        parts: Sequence[Bundle],
        located: tuple[View, ...],
        optional: tuple[Bundle, ...],
    ) -> Bundle:
        """The parts that have streams, joined."""
        leaders = [(part.stream, part.zeros) for part in parts if part.stream is not None]
        stream = self._joiner.join(meeting, [leader for leader, _ in leaders])
        first, zeros = leaders[0]
        # What comes out of a joiner is no concatenation's own any more.
        return Bundle(stream, located, optional=optional, zeros=zeros and stream.crd == first.crd)


def _everywhere(parts: Sequence[Bundle]) -> Bundle:
    """Values everywhere, whatever coordinates the parts have."""
    leaders = (Bundle(part.stream) for part in parts if part.stream is not None)
    return Bundle(located=_located(parts), everywhere=True, optional=(*_optional(parts), *leaders))


def _located(parts: Iterable[Bundle]) -> tuple[View, ...]:
    return tuple(dict.fromkeys(view for part in parts for view in part.located))


def _optional(parts: Iterable[Bundle]) -> tuple[Bundle, ...]:
    return tuple(bundle for part in parts for bundle in part.optional)
