"""Every row of the tables of docs/compiler.md, *What happens at a row*, on the classes that follow them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import pytest

from samhw.compiler.einsum import CONCAT, EVERYWHERE, MASK, MUL, Apply, Einsum, Intermediate, Number, View
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.bundles import Bundles
from samhw.compiler.lowering.goal import Fill, Goal
from samhw.compiler.lowering.joiners import StreamJoiner
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting, Payload, Payloads
from samhw.compiler.lowering.roles import Rule, roles
from samhw.compiler.lowering.row import OpenRow
from samhw.compiler.lowering.row_end import RowEnd
from samhw.compiler.lowering.scans import Scanner
from samhw.compiler.lowering.space import FULL, RowStream, ValueStream
from samhw.compiler.table import Feed, PlannedNode
from samhw.errors import ScheduleError
from samhw.graph.names import Names
from samhw.tensors import LevelType
from tests.compiler.doc_tables import table

COMPRESSED, DENSE = LevelType.compressed, LevelType.dense


def view(name: str, level: LevelType = COMPRESSED, *, index: str = "i") -> View:
    return View(name, name, (index,), (level,))


class Row:
    """A row i that is about to be entered, and what lowers it."""

    def __init__(self) -> None:
        self.builder = TableBuilder("Y[i] = ..", ("i", "j"), {"i": "i", "j": "j"}, {"i": 8, "j": 8}, Names())
        self.space = self.builder.space()
        self.open = OpenRow(self.builder, self.space, "i")
        self.scanner = Scanner(self.open)
        self.joiner = StreamJoiner(self.open)

    def bundle(self, e: Einsum) -> Bundle:
        """What e has at the row."""
        bundle = Bundles(self.open, self.scanner, self.joiner).of(e)
        assert bundle is not None
        return bundle

    def scan(self, view: View) -> Lockstep:
        """The coordinates of a view, scanned."""
        bundle = self.bundle(view)
        return bundle.stream or self.scanner.dense(bundle)

    def nested(self, name: str) -> Lockstep:
        """A stream with a further row inside."""
        operand = Intermediate(name, view(f"{name}_operand"), frozenset())
        node = PlannedNode("reduce_vector", name, 1, {})
        rows = (RowStream("i", node.output("crd1"), None), RowStream("j", node.output("crd0"), None))
        self.space.streams[operand] = ValueStream(node.output("val"), rows)
        stream = self.bundle(operand).stream
        assert stream is not None
        return stream

    def finish(self, bundle: Bundle, fill: Fill = Fill.NONE) -> tuple[RowStream, Bundle]:
        """The end of the row."""
        return RowEnd(self.open, self.scanner, self.joiner, GOALS[fill]).finish(bundle)


GOALS = {
    Fill.NONE: Goal("Y"),
    Fill.EVERYWHERE: Goal("Y", frozenset("i")),
    Fill.ALL: Goal("Y", frozenset("i"), is_stored=True),
}


def kind(source: Feed) -> str:
    """Of the planned node that gives a stream."""
    return source.node.kind


# Who has a say

SOME = Bundle(Lockstep(PlannedNode("scan_compressed", "some", 1, {}).output("crd"), ("some",)))
MORE = Bundle(Lockstep(PlannedNode("scan_compressed", "more", 1, {}).output("crd"), ("more",)))
ALL = Bundle(complete=True)
ANYWHERE = Bundle(everywhere=True)
A, B = view("A"), view("B")

OPERATIONS: Mapping[str, tuple[Apply, list[Bundle | None], list[Bundle]]] = {
    "product": (Apply(MUL, (A, B)), [SOME, ANYWHERE], []),
    "product of what is everywhere": (Apply(MUL, (A, B)), [ANYWHERE, ANYWHERE], []),
    "concatenation": (Apply(CONCAT, (A, B)), [SOME, ALL], []),
    "maximum under a mask that has the row": (Apply(MASK, (A, B)), [SOME, MORE], [SOME]),
    "maximum under a mask that lacks the row, of what has every coordinate": (
        Apply(MASK, (A, B)),
        [ALL, None],
        [],
    ),
    "maximum under a mask that lacks the row, of anything else": (Apply(MASK, (A, B)), [SOME, None], []),
    "maximum without a mask, of what has every coordinate": (Apply(EVERYWHERE, (A,)), [ALL], []),
    "maximum without a mask, of anything else": (Apply(EVERYWHERE, (A,)), [SOME], []),
    "division, the numerator has the row": (Apply("div", (A, B)), [SOME, MORE], [MORE]),
    "`select` whose branches have the row or are zero": (
        Apply("select", (A, B, Number(0))),
        [SOME, MORE, None],
        [SOME],
    ),
    "any other, an operand has every coordinate": (Apply("exp", (A,)), [ALL], []),
    "any other, zero where all operands are, all have the row": (Apply("add", (A, B)), [SOME, MORE], []),
    "any other, zero where all operands are, one lacks the row": (Apply("add", (A, B)), [SOME, None], []),
    "any other, not zero where all operands are": (Apply("exp", (A,)), [SOME], []),
    "any other, an operand is everywhere": (Apply("add", (A, B)), [SOME, ANYWHERE], []),
}


def test_every_operation_of_the_table_is_tried() -> None:
    assert [row[0] for row in table("Who has a say")] == list(OPERATIONS)


@pytest.mark.parametrize(("operation", "coordinates", "optional"), table("Who has a say"))
def test_who_has_a_say(operation: str, coordinates: str, optional: str) -> None:
    e, bundles, without_say = OPERATIONS[operation]
    found = roles(e, bundles)
    assert found is not None
    assert found.rule.value == coordinates
    assert list(found.optional) == without_say
    # Which factors of a product are optional is known when their coordinates meet.
    assert bool(optional) == bool(without_say or operation == "product")


def test_an_operation_without_the_row_has_no_coordinates() -> None:
    assert roles(Apply(MUL, (A, B)), [None, None]) is None


def test_a_factor_that_is_everywhere_is_optional() -> None:
    row, c = Row(), view("C", DENSE)
    bundle = row.bundle(Apply(MUL, (A, Apply("exp", (B,)), c)))
    assert bundle.stream is not None
    assert bundle.stream.payloads.operands == {A}
    assert [b.stream.payloads.operands for b in bundle.optional if b.stream] == [{B}]
    assert bundle.located == (c,)


@pytest.mark.parametrize("branch", [Number(1), view("S", index="j")])
def test_the_condition_leads_where_a_branch_is_a_number_or_lacks_the_row(branch: Einsum) -> None:
    found = roles(Apply("select", (A, branch, B)), [SOME, None, MORE])
    assert found is not None
    assert not found.optional
    assert found.rule is (Rule.UNION if isinstance(branch, Number) else Rule.EVERYWHERE)


# What is known of a payload

X = view("X")
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
        (Payload(X, source),) if brings else (),
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
    _, bundle = row.finish(Bundle(replace(scan, payloads=known)), Fill.ALL)
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
    node = joined.crd.node
    taken = joined.payloads.streams[0].source.port
    assert node.inputs[taken] == whole.payloads.streams[0].source
    assert not joined.payloads.partial


def test_a_union_takes_the_whole_payload() -> None:
    row = Row()
    narrowed = row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(A)])
    whole = row.scan(X)
    joined = row.joiner.join(Meeting.UNION, [narrowed, whole])
    inputs = joined.crd.node.inputs
    sources = {p.operand: inputs[p.source.port] for p in joined.payloads.streams}
    assert sources[X] == whole.payloads.streams[0].source


def test_a_union_without_the_whole_payload_is_refused() -> None:
    row = Row()
    narrowed = [row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(other)]) for other in (A, B)]
    with pytest.raises(ScheduleError, match="X takes part in two terms of"):
        row.joiner.join(Meeting.UNION, narrowed)


def partial_leader(row: Row) -> Lockstep:
    """Every coordinate, at some of which X is EMPTY, although it has a value."""
    narrowed = row.joiner.join(Meeting.INTERSECTION, [row.scan(X), row.scan(A)])
    return row.joiner.join(Meeting.UNION, [narrowed, row.scan(view("D", DENSE))])


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


# Where a reference is missing


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
    row.space.cursor(X).missing = False
    row.joiner.lead(leader, whole)
    return row.open.is_missing(X)


def scanned(row: Row) -> bool:
    row.space.cursor(A).missing = True
    assert row.scan(A).domain is None
    return row.open.is_missing(A)


def located(row: Row) -> bool:
    d = view("D", DENSE)
    row.space.cursor(d).missing = True
    bundle = row.bundle(d)
    assert bundle.located == (d,)
    assert not bundle.full
    return row.open.is_missing(d)


MISSING: Mapping[str, tuple[Callable[[Row], bool], bool]] = {
    "a union, the view has every coordinate": (union_with_every_coordinate, False),
    "a union, the view has only some": (union_with_some, False),
    "an intersection": (intersection, False),
    "a leader's own view, an optional operand joins": (leader, False),
    "a leader's own view, an optional operand brings it whole": (leader_with_better, False),
    "a level is located": (located, True),
    "a level is scanned": (scanned, True),
}
"""What happens, and whether references were missing before."""


def test_everything_that_happens_to_references_is_tried() -> None:
    assert [row[0] for row in table("Where a reference is missing")] == list(MISSING)


@pytest.mark.parametrize(("happens", "references"), table("Where a reference is missing"))
def test_where_a_reference_is_missing(happens: str, references: str) -> None:
    happen, before = MISSING[happens]
    expected = {"as before": before, "missing": True, "not missing": False}[references]
    assert happen(Row()) == expected


def test_a_product_with_what_is_missing_makes_zeros() -> None:
    row = Row()
    row.space.cursor(d := view("D", DENSE)).missing = True
    row.bundle(Apply(MUL, (A, d)))
    assert row.builder.makes_zeros


def test_a_product_with_what_is_there_makes_none() -> None:
    row = Row()
    row.bundle(Apply(MUL, (A, view("D", DENSE))))
    assert not row.builder.makes_zeros


# Streams with further rows inside


def nested_alike(row: Row) -> Lockstep:
    nested = row.nested("T")
    return row.joiner.join(Meeting.UNION, [replace(nested, nested=None), nested])


def nested_in_a_joiner(row: Row) -> Lockstep:
    return row.joiner.join(Meeting.INTERSECTION, [row.nested("T"), row.scan(A)])


def nested_and_optional(row: Row) -> Lockstep:
    return row.joiner.lead(row.nested("T"), row.scan(A))


def nested_and_filled(row: Row) -> Lockstep:
    _, bundle = row.finish(Bundle(row.nested("T")), Fill.ALL)
    assert bundle.stream is not None
    return bundle.stream


NESTED: Mapping[str, Callable[[Row], Lockstep]] = {
    "the same coordinates meet": nested_alike,
    "a joiner": nested_in_a_joiner,
    "an optional operand of other coordinates joins": nested_and_optional,
    "all coordinates are added": nested_and_filled,
}


def test_every_place_of_a_nested_stream_is_tried() -> None:
    assert [row[0] for row in table("Streams with further rows inside")] == list(NESTED)


@pytest.mark.parametrize(("where", "what"), table("Streams with further rows inside"))
def test_a_nested_stream(where: str, what: str) -> None:
    if what == "is refused":
        with pytest.raises(ScheduleError, match=r"T gives (a stream over j inside of i|only some i)"):
            NESTED[where](Row())
    else:
        assert NESTED[where](Row()).nested is not None


# The end of a row

BUNDLES: Mapping[str, Callable[[Row], Bundle]] = {
    "every coordinate": lambda row: Bundle(row.scan(view("D", DENSE))),
    "some coordinates": lambda row: row.bundle(A),
    "dense levels alone, of which one is not missing": lambda row: dense_levels(row, 1),
    "dense levels alone, all missing": lambda row: dense_levels(row, 2),
    "values everywhere, and dense levels alone, all missing": lambda row: everywhere(row),
    "values everywhere, and something optional": lambda row: row.bundle(Apply("exp", (A,))),
}


def dense_levels(row: Row, missing: int) -> Bundle:
    """Two dense levels, of which as many as said, from the left, have references that may be missing."""
    levels = view("D", DENSE), view("E", DENSE)
    for level in levels[:missing]:
        row.space.cursor(level).missing = True
    return row.bundle(Apply(MUL, levels))


def everywhere(row: Row) -> Bundle:
    """A function that is not zero where the operand stores nothing."""
    d = view("D", DENSE)
    row.space.cursor(d).missing = True
    return row.bundle(Apply("exp", (d,)))


def expect(has: str, bundle: Bundle, stream: RowStream) -> None:
    """The row has what the table says."""
    match has:
        case "the bundle's coordinates":
            assert bundle.stream is not None
            assert (stream.crd, stream.filled) == (bundle.stream.crd, False)
        case "a union with every coordinate":
            assert (kind(stream.crd), stream.domain, stream.filled) == ("union", FULL, True)
        case "a scan of that one":
            assert (stream.crd.node.name, stream.domain, stream.filled) == ("scan_dense_E_i", FULL, False)
        case "a scan of the first":
            assert (stream.crd.node.name, stream.domain, stream.filled) == ("scan_dense_D_i", None, False)
        case "every coordinate":
            assert (stream.domain, stream.filled) == (FULL, True)
            assert "scan_dense_Y_i" in (stream.crd.node.name, *scans(stream.crd))
        case _:
            raise AssertionError(f"what is '{has}'?")


def scans(source: Feed) -> list[str]:
    """The nodes behind a joiner."""
    return [feed.node.name for feed in source.node.inputs.values()]


def test_every_end_of_a_row_is_tried() -> None:
    assert {row[0] for row in table("The end of a row")} == set(BUNDLES)


@pytest.mark.parametrize(("bundle", "added", "has"), table("The end of a row"))
def test_the_end_of_a_row(bundle: str, added: str, has: str) -> None:
    for fill in map(Fill, added.split("; ")):
        row = Row()
        made = BUNDLES[bundle](row)
        before = replace(made)
        if has == "nothing: it is refused":
            with pytest.raises(ScheduleError, match="has a value at every i, but A stores only some i"):
                row.finish(made, fill)
        else:
            stream, _ = row.finish(made, fill)
            expect(has, before, stream)


def test_every_bundle_has_a_row_for_every_fill() -> None:
    tried = [(bundle, fill) for bundle, added, _ in table("The end of a row") for fill in added.split("; ")]
    assert sorted(tried) == sorted((bundle, fill.value) for bundle in BUNDLES for fill in Fill)


def test_optional_operands_are_brought_to_the_coordinates_of_the_row() -> None:
    row = Row()
    stream, bundle = row.finish(row.bundle(Apply("div", (A, B))))
    assert bundle.stream is not None
    assert bundle.stream.payloads.operands == {A, B}
    # United, and what only the optional one has goes again.
    assert kind(stream.crd) == "intersect"
    assert [kind(stream.crd.node.inputs[port]) for port in ("crd0", "crd1")] == ["scan_compressed", "union"]


def test_optional_operands_need_no_intersection_where_the_row_has_every_coordinate() -> None:
    row = Row()
    scan = row.scan(view("D", DENSE))
    stream, _ = row.finish(Bundle(scan, optional=(row.bundle(A),)))
    assert kind(stream.crd) == "union"
