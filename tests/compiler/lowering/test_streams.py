"""The tables *Where a reference is missing* and *Streams with further rows inside* of docs/compiler.md."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting
from samhw.errors import ScheduleError
from tests.compiler.lowering.document import spread, table
from tests.compiler.lowering.row import DENSE, A, B, Row, X, partial_leader, view


def union_with_every_coordinate(row: Row) -> bool:
    d = view("D", DENSE)
    row.joiner.join(Meeting.UNION, [row.scan(d), row.scan(A)])
    return row.open.is_missing(d)


def union_with_some(row: Row) -> bool:
    row.joiner.join(Meeting.UNION, [row.scan(A), row.scan(B)])
    return row.open.is_missing(A)


def intersection(row: Row) -> bool:
    row.joiner.join(Meeting.INTERSECTION, [row.scan(A), row.scan(B)])
    return row.open.is_missing(A)


def leader(row: Row) -> bool:
    row.joiner.lead(row.scan(A), row.scan(B))
    return row.open.is_missing(A)


def leader_with_better(row: Row) -> bool:
    leader = partial_leader(row)
    whole = row.scan(X)
    row.space.cursor(X).missing = frozenset()
    row.joiner.lead(leader, whole)
    return row.open.is_missing(X)


def scanned(row: Row) -> bool:
    row.space.cursor(A).missing = frozenset("i")
    assert row.scan(A).domain is None
    return row.open.is_missing(A)


def located(row: Row) -> bool:
    d = view("D", DENSE)
    row.space.cursor(d).missing = frozenset("i")
    bundle = row.bundle(d)
    assert bundle.located == (d,)
    assert not bundle.full
    return row.open.is_missing(d)


MISSING: Mapping[str, tuple[Callable[[Row], bool], bool]] = {
    "a union, the view has every coordinate": (union_with_every_coordinate, False),
    "an intersection": (intersection, False),
    "a leader's own view, an optional operand joins": (leader, False),
    "a level is located": (located, True),
    "a union, the view has only some": (union_with_some, False),
    "a leader's own view, an optional operand brings it whole": (leader_with_better, False),
    "a level is scanned": (scanned, True),
}
"""What happens, and whether references were missing before."""


REFERENCES = list(spread(table("Where a reference is missing"), 0))


def test_everything_that_happens_to_references_is_tried() -> None:
    assert [row[0] for row in REFERENCES] == list(MISSING)


@pytest.mark.parametrize(("happens", "references"), REFERENCES)
def test_where_a_reference_is_missing(happens: str, references: str) -> None:
    happen, before = MISSING[happens]
    expected = {"as before": before, "missing": True, "not missing": False}[references]
    assert happen(Row()) == expected


def nested_alike(row: Row) -> Lockstep:
    nested = row.nested("T")
    return row.joiner.join(Meeting.UNION, [replace(nested, nested=None), nested])


def nested_in_a_joiner(row: Row) -> Lockstep:
    return row.joiner.join(Meeting.INTERSECTION, [row.nested("T"), row.scan(A)])


def nested_and_optional(row: Row) -> Lockstep:
    return row.joiner.lead(row.nested("T"), row.scan(A))


def nested_and_filled(row: Row) -> Lockstep:
    _, bundle = row.finish(Bundle(row.nested("T")), "i")
    assert bundle.stream is not None
    return bundle.stream


IN_THE_MIDDLE = "T gives a stream over j inside of i"
NESTED: Mapping[str, tuple[Callable[[Row], Lockstep], str]] = {
    "the same coordinates meet": (nested_alike, ""),
    "a joiner": (nested_in_a_joiner, IN_THE_MIDDLE),
    "an optional operand of other coordinates joins": (nested_and_optional, IN_THE_MIDDLE),
    "all coordinates are added": (nested_and_filled, "T gives only some i, each with a fiber inside"),
}
"""What is done, and what a refusal says."""


PLACES = list(spread(table("Streams with further rows inside"), 0))


def test_every_place_of_a_nested_stream_is_tried() -> None:
    assert [row[0] for row in PLACES] == list(NESTED)


@pytest.mark.parametrize(("where", "what"), PLACES)
def test_a_nested_stream(where: str, what: str) -> None:
    do, message = NESTED[where]
    if what == "is refused":
        with pytest.raises(ScheduleError, match=message):
            do(Row())
    else:
        assert do(Row()).nested is not None
