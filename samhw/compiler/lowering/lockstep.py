"""Coordinates, the payloads that come with them in lockstep, and how much of its operand each brings.

The rules by which this combines are a table of docs/compiler.md, *What is known of a payload*; `Payloads.met`
and `Payloads.led` are that table in code.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from samhw.compiler.einsum import Einsum, View
from samhw.compiler.fusion_table import Feed
from samhw.compiler.lowering.space import FULL, CrdDomain

__all__ = ["Bundle", "Lockstep", "Meeting", "OperandStream", "Payloads", "met_domain"]


class Meeting(Enum):
    """How coordinates meet. A joiner is a node of the kind that the value names."""

    ALIKE = "alike"
    """They are the same, and need no joiner."""
    INTERSECTION = "intersect"
    UNION = "union"


class OperandStream(NamedTuple):
    """A stream in lockstep with coordinates, and the operand that it belongs to (None: nobody's)."""

    operand: Einsum | None
    source: Feed


@dataclass(frozen=True)
class Payloads:
    """The payloads that come with coordinates.

    narrow: operands that have further coordinates, which are not among these.
    partial: operands whose payload is EMPTY at some of these coordinates, although they have one there.

    Where a union takes an operand's payload from another part, what was known of the one it left stays known.
    """

    streams: tuple[OperandStream, ...] = ()
    narrow: frozenset[Einsum] = frozenset()
    partial: frozenset[Einsum] = frozenset()

    @property
    def operands(self) -> frozenset[Einsum]:
        """Whose payloads there are."""
        return frozenset(payload.operand for payload in self.streams if payload.operand is not None)

    def has_all(self, operand: Einsum) -> bool:
        """The operand's payload is there wherever it has one, at these coordinates and elsewhere."""
        return operand not in self.narrow | self.partial

    def without(self, operands: Collection[Einsum | None]) -> "Payloads":
        """The same without the streams of those operands."""
        return replace(self, streams=tuple(p for p in self.streams if p.operand not in operands))

    @classmethod
    def met(
        cls, meeting: Meeting, parts: "Sequence[Payloads]", streams: Iterable[OperandStream] = ()
    ) -> "Payloads":
        """What is known where parts meet. Of the streams that come out, the first of each operand stays."""
        narrow = frozenset[Einsum]().union(*(p.narrow for p in parts))
        partial = frozenset[Einsum]().union(*(p.partial for p in parts))
        # Of several payloads of one operand one that is not partial is taken further, if there is any.
        partial_in_each = frozenset(
            o for o in partial if all(o in p.partial for p in parts if o in p.operands)
        )
        match meeting:
            case Meeting.ALIKE:
                known = narrow, partial_in_each
            case Meeting.INTERSECTION:
                known = narrow.union(*(p.operands for p in parts)), partial_in_each
            case Meeting.UNION:
                known = narrow, partial | narrow
        return cls(_one_each(streams), *known)

    @classmethod
    def led(
        cls, leader: "Payloads", optional: "Payloads", streams: Iterable[OperandStream], *, full: bool
    ) -> "Payloads":
        """What is known where optional operands have been brought to the coordinates of a leader.

        Args:
            optional: of what the leader has as well, only what it has better.
            full: the leader has every coordinate.
        """
        operands = optional.operands
        narrow = leader.narrow if full else leader.narrow | operands
        partial = leader.partial - (leader.operands & operands)
        return cls(tuple(streams), narrow, partial | (operands & (optional.narrow | optional.partial)))

    def and_those_of(self, other: "Payloads") -> "Payloads":
        """With those of other streams that have the same coordinates."""
        better = (self.partial & other.operands) - other.partial
        return Payloads.met(Meeting.ALIKE, [self, other], self.without(better).streams + other.streams)


def _one_each(streams: Iterable[OperandStream]) -> tuple[OperandStream, ...]:
    """The first stream of each operand, and all that are nobody's."""
    seen: set[Einsum] = set()
    result = []
    for payload in streams:
        if payload.operand is None:
            result.append(payload)
        elif payload.operand not in seen:
            seen.add(payload.operand)
            result.append(payload)
    return tuple(result)


def met_domain(meeting: Meeting, domains: Collection[CrdDomain | None]) -> CrdDomain | None:
    """Which coordinates come out of a joiner of streams that have different ones."""
    if meeting is Meeting.UNION:
        return FULL if FULL in domains else None
    # Every coordinate selects none.
    others = [domain for domain in domains if domain != FULL]
    return others[0] if len(others) == 1 else None


@dataclass(frozen=True)
class Lockstep:
    """A coordinate stream and what comes along with it."""

    crd: Feed
    domain: CrdDomain | None
    """None: coordinates like no others."""
    payloads: Payloads = field(default_factory=Payloads)
    nested: Einsum | None = None
    """A stream with further rows inside, which can follow no joiner."""

    @property
    def full(self) -> bool:
        """Every coordinate of the extent is present."""
        return self.domain == FULL

    @property
    def streams(self) -> tuple[OperandStream, ...]:
        """The payloads, or the coordinates themselves for want of any."""
        return self.payloads.streams or (OperandStream(None, self.crd),)

    def and_that_of(self, other: "Lockstep") -> "Lockstep":
        """With what comes along with the same coordinates elsewhere."""
        payloads = self.payloads.and_those_of(other.payloads)
        return replace(self, payloads=payloads, nested=self.nested or other.nested)


@dataclass
class Bundle:
    """What an expression has at a row: one object for each expression, so that what is scanned for one use
    is scanned for all."""

    stream: Lockstep | None = None
    """None while only dense levels meet and none is scanned, and where there are values everywhere."""
    located: tuple[View, ...] = ()
    """Operands with a dense level here that need no scanner, because they can be located."""
    complete: bool = False
    """Of what is to be located: one at least has every coordinate."""
    optional: "tuple[Bundle, ...]" = ()
    """Operands that count as zero where they have no coordinate."""
    everywhere: bool = False
    """There are values at coordinates that no operand stores: all operands are optional."""
    zeros: bool = False
    """What a dense level stores is among the values, and not every coordinate is there."""
    empty: frozenset[str] = frozenset()
    """The rows outside of this one at which the expression may be missing, so that there is no coordinate."""

    @property
    def full(self) -> bool:
        """Every coordinate of the extent is present."""
        return self.complete if self.stream is None else self.stream.full

    def led(self, optional: "Iterable[Bundle]") -> "Bundle":
        """The same coordinates with further operands, which have no say in them."""
        return replace(self, optional=(*self.optional, *optional))
