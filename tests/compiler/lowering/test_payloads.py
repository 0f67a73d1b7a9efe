"""The table *What is known of a payload* of docs/compiler.md, row by row."""

from dataclasses import replace
from itertools import product

import pytest

from samhw.compiler.fusion_table import PlannedNode
from samhw.compiler.lowering.lockstep import Bundle, Meeting, OperandStream, Payloads
from samhw.compiler.lowering.space import FULL, CrdDomain
from samhw.errors import ScheduleError
from tests.compiler.lowering.document import table
from tests.compiler.lowering.row import DENSE, A, B, Row, X, made, partial_leader, view

NARROW = {
    "in any part": lambda parts: any(X in p.narrow for p in parts),
    "always": lambda parts: any(X in p.narrow or X in p.operands for p in parts),
}
PARTIAL = {
    "in each part that brings it": lambda parts: (
        any(X in p.partial for p in parts) and all(X in p.partial for p in parts if X in p.operands)
    ),
    "narrow or partial in any part": lambda parts: any(X in p.narrow | p.partial for p in parts),
}
MEETINGS = {
    "the same coordinates meet": Meeting.ALIKE,
    "an intersection": Meeting.INTERSECTION,
    "a union": Meeting.UNION,
}
LED = "a leader is joined by optional operands: "
KNOWN = {where: (narrow, partial) for where, narrow, partial in table("What is known of a payload")}


def payloads(*, brings: bool = True, narrow: bool = False, partial: bool = False) -> Payloads:
    source = PlannedNode("scan_compressed", "X", 1, {}).output("ref")
    return Payloads(
        (OperandStream(X, source),) if brings else (),
        frozenset([X] if narrow else []),
        frozenset([X] if partial else []),
    )


EVERY = [payloads(brings=b, narrow=n, partial=p) for b, n, p in product([True, False], repeat=3)]


def test_every_place_of_the_table_is_tried() -> None:
    assert list(KNOWN) == [*MEETINGS, f"{LED}its own", f"{LED}the others", "all coordinates are added"]


@pytest.mark.parametrize("where", MEETINGS)
def test_what_is_known_where_streams_meet(where: str) -> None:
    narrow, partial = KNOWN[where]
    for parts in product(EVERY, repeat=2):
        met = Payloads.met(MEETINGS[where], parts)
        assert (X in met.narrow) == NARROW[narrow](parts)
        assert (X in met.partial) == PARTIAL[partial](parts)


@pytest.mark.parametrize("full", [True, False])
def test_what_is_known_of_a_leader(full: bool) -> None:
    assert KNOWN[f"{LED}its own"] == ("as before", "unless the other brings it")
    for own, brings in product([p for p in EVERY if p.operands], [True, False]):
        led = Payloads.led(own, payloads(brings=brings), own.streams, full=full)
        if not brings:
            assert led == own
        assert (X in led.partial) == (X in own.partial and not brings)


@pytest.mark.parametrize("full", [True, False])
def test_what_is_known_of_optional_operands(full: bool) -> None:
    assert KNOWN[f"{LED}the others"] == ("unless the leader has every coordinate", "narrow or partial")
    for other in [p for p in EVERY if p.operands]:
        led = Payloads.led(Payloads(), other, other.streams, full=full)
        assert (X in led.narrow) == (not full)
        assert (X in led.partial) == (not other.has_all(X))


def test_what_is_known_where_all_coordinates_are_added() -> None:
    assert KNOWN["all coordinates are added"] == ("as before", "as before")
    row = Row()
    scan = row.scan(X)
    known = replace(scan.payloads, narrow=frozenset([X]))
    _, bundle = row.finish(Bundle(replace(scan, payloads=known)), "i")
    assert bundle.stream is not None
    assert (bundle.stream.payloads.narrow, bundle.stream.payloads.partial) == ({X}, frozenset())


@pytest.mark.parametrize(("first", "second"), [(False, False), (False, True), (True, False), (True, True)])
def test_of_the_same_coordinates_the_payload_that_is_not_partial_is_taken(first: bool, second: bool) -> None:
    a, b = payloads(partial=first), payloads(partial=second)
    taken = b if first and not second else a
    assert a.and_those_of(b).streams == taken.streams


def test_an_intersection_takes_the_payload_that_is_not_partial() -> None:
    row = Row()
    part = replace(row.scan(X), domain=("half",))
    part = replace(part, payloads=replace(part.payloads, partial=frozenset([X])))
    whole = row.scan(X)
    joined = row.joiner.join(Meeting.INTERSECTION, [part, whole])
    node = made(joined.crd).node
    taken = made(joined.payloads.streams[0].source).port
    assert node.inputs[taken] == whole.payloads.streams[0].source
    assert not joined.payloads.partial


@pytest.mark.parametrize("domain", [FULL, ("half",)])
def test_an_operand_of_which_every_part_knows_another_part_is_refused(domain: CrdDomain) -> None:
    """Also where the coordinates are the same."""
    row = Row()
    first, second = partial_leader(row), partial_leader(row)
    with pytest.raises(ScheduleError, match="X takes part in two terms of"):
        row.joiner.join(Meeting.INTERSECTION, [first, replace(second, domain=domain)])


def test_one_payload_that_comes_by_two_ways_serves_both() -> None:
    row = Row()
    stream = partial_leader(row)
    joined = row.joiner.join(Meeting.INTERSECTION, [stream, stream])
    assert joined.payloads == stream.payloads
    # Also where one of them has gone through further joiners.
    united = row.joiner.join(Meeting.UNION, [stream, row.scan(B)])
    both = row.joiner.join(Meeting.INTERSECTION, [united, row.scan(view("C"))])
    assert X in row.joiner.join(Meeting.INTERSECTION, [stream, both]).payloads.operands


def test_a_payload_that_has_lost_some_between_joiners_does_not_serve_both() -> None:
    row = Row()
    stream = partial_leader(row)
    less = row.joiner.join(Meeting.INTERSECTION, [stream, row.scan(view("C"))])
    united = row.joiner.join(Meeting.UNION, [less, row.scan(B)])
    with pytest.raises(ScheduleError, match="X takes part in two terms of"):
        row.joiner.join(Meeting.INTERSECTION, [stream, united])


def test_a_union_takes_the_whole_payload() -> None:
    row = Row()
    narrowed = row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(A)])
    whole = row.scan(X)
    joined = row.joiner.join(Meeting.UNION, [narrowed, whole])
    inputs = made(joined.crd).node.inputs
    sources = {p.operand: inputs[made(p.source).port] for p in joined.payloads.streams}
    assert sources[X] == whole.payloads.streams[0].source


def test_a_union_without_the_whole_payload_is_refused() -> None:
    row = Row()
    narrowed = [row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(other)]) for other in (A, B)]
    with pytest.raises(ScheduleError, match="X takes part in two terms of"):
        row.joiner.join(Meeting.UNION, narrowed)


def test_a_leader_takes_the_whole_payload_of_an_optional_operand_for_its_partial_one() -> None:
    row = Row()
    led = row.joiner.lead(partial_leader(row), row.scan(X))
    assert X in led.payloads.operands
    assert X not in led.payloads.partial


def test_a_partial_payload_of_a_leader_and_of_an_optional_operand_are_refused() -> None:
    row = Row()
    other = row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(B)])
    with pytest.raises(ScheduleError, match="X takes part in two terms of"):
        row.joiner.lead(partial_leader(row), other)


def test_a_dense_level_that_is_partial_at_the_end_of_a_row_is_located() -> None:
    row, d = Row(), view("D", DENSE)
    scan = row.scan(d)
    scan = replace(scan, payloads=replace(scan.payloads, partial=frozenset([d])))
    _, bundle = row.finish(Bundle(scan, located=(d,)))
    assert bundle.stream is not None
    assert not bundle.stream.payloads.streams
