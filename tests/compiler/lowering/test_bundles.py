"""The tables *Where dense levels meet* and *Which coordinates come out* of docs/compiler.md, row by row."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from samhw.compiler.einsum import CONCAT, MUL, Apply, Number, Part, View
from samhw.compiler.lowering.bundles import Bundles
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, Meeting
from samhw.compiler.lowering.space import FULL
from samhw.tensors.formats import LevelType
from tests.compiler.lowering.document import spread, table
from tests.compiler.lowering.row import COMPRESSED, DENSE, A, B, D, E, Row, kind, made, scans, view

EVERY_D = view("every", DENSE)


PLACES: Mapping[str, tuple[str, str, str]] = {
    "in an intersection with streams": ("intersection", "any", "streams"),
    "in a union with every coordinate": ("union", "any", "a stream with every coordinate"),
    "in a factor that is everywhere, in an intersection with streams": (
        "intersection",
        "of a factor that is everywhere",
        "streams",
    ),
    "in an intersection of nothing else": ("intersection", "any", "nothing"),
    "in a union of nothing else, one complete": ("union", "one is complete", "nothing"),
    "in a union of nothing else, none complete": ("union", "none is complete", "nothing"),
    "in a union with some coordinates, none complete": ("union", "none is complete", "some coordinates"),
    "in a union with some coordinates, one complete": ("union", "one is complete", "some coordinates"),
    "in a concatenation along another row, none complete": (
        "concatenation along another row",
        "none is complete",
        "nothing",
    ),
}
"""The operation in which dense levels meet, what is known of them, and what is beside them."""


def meet(operation: str, levels: str, beside: str) -> Bundle:
    """The bundle of an operation on the dense levels E and D and what is beside them. Of the two, D may be
    complete."""
    row = Row()
    row.space.cursor(E).missing = frozenset("i")
    row.space.cursor(D).missing = frozenset("i" if levels == "none is complete" else "")
    if operation == "concatenation along another row":
        return row.bundle(Apply(CONCAT, (E, D)))
    if levels == "of a factor that is everywhere":
        parts = [Bundle(located=(E, D), everywhere=True)]
    else:
        parts = [row.bundle(E), row.bundle(D)]
    if beside == "a stream with every coordinate":
        parts.append(Bundle(row.scan(EVERY_D)))
    elif beside != "nothing":
        parts.append(row.bundle(A))
    bundles = Bundles(row.open, row.scanner, row.joiner)
    return (bundles.intersection if operation == "intersection" else bundles.union)(parts)


def scanned_names(bundle: Bundle) -> set[str]:
    """The scanners after a bundle's coordinates."""
    if bundle.stream is None:
        return set()
    node = made(bundle.stream.crd).node
    return set(scans(bundle.stream.crd)) if node.kind in ("union", "intersect") else {node.name}


def waits(bundle: Bundle) -> bool:
    """The complete level is scanned first, if any is."""
    return bundle.stream is None and bundle.complete and bundle.located == (D, E)


DENSE_LEVELS: Mapping[str, Callable[[Bundle], bool]] = {
    "located": lambda b: (
        set(b.located) == {D, E} and not scanned_names(b) & {"scan_dense_D_i", "scan_dense_E_i"}
    ),
    "located, without a say": lambda b: not b.located and [set(o.located) for o in b.optional] == [{D, E}],
    "waiting, complete if one is": lambda b: waits(b),
    "waiting, complete": lambda b: waits(b),
    "each scanned": lambda b: not b.located and {"scan_dense_D_i", "scan_dense_E_i"} <= scanned_names(b),
    "the complete one scanned, others located": lambda b: (
        b.located == (E,) and "scan_dense_D_i" in scanned_names(b)
    ),
    "located at a scan of every coordinate": lambda b: (
        b.full and b.located == (E, D) and b.stream is not None and not b.stream.payloads.streams
    ),
}


LEVELS = list(spread(table("Where dense levels meet"), 1))


def test_every_place_of_dense_levels_is_tried() -> None:
    assert [where for _, where in LEVELS] == list(PLACES)


@pytest.mark.parametrize(("become", "where"), LEVELS)
def test_where_dense_levels_meet(become: str, where: str) -> None:
    bundle = meet(*PLACES[where])
    assert DENSE_LEVELS[become](bundle), bundle


def part(name: str, level: LevelType, *before: str) -> View:
    return replace(view(name, level), part=Part("i", "i", before))


COORDINATES: Mapping[str, Callable[[Row], Lockstep | None]] = {
    "a union, one has every coordinate": lambda row: row.joiner.join(
        Meeting.UNION, [row.scan(A), row.scan(D)]
    ),
    "a concatenation along the row, all dense and complete": lambda row: (
        row.bundle(Apply(CONCAT, (part("A", DENSE), part("B", DENSE, "i")))).stream
    ),
    "an intersection, all but one have every coordinate": lambda row: row.joiner.join(
        Meeting.INTERSECTION, [row.scan(A), row.scan(D)]
    ),
    "a union, each has some": lambda row: row.joiner.join(Meeting.UNION, [row.scan(A), row.scan(B)]),
    "an intersection, several have some": lambda row: row.joiner.join(
        Meeting.INTERSECTION, [row.scan(A), row.scan(B), row.scan(D)]
    ),
    "a concatenation along the row, one compressed": lambda row: (
        row.bundle(Apply(CONCAT, (part("A", DENSE), part("B", COMPRESSED, "i")))).stream
    ),
}
OF = list(spread(table("Which coordinates come out"), 1))


def test_all_that_meets_is_tried() -> None:
    assert [what for _, what in OF] == list(COORDINATES)


@pytest.mark.parametrize(("coordinates", "what"), OF)
def test_which_coordinates_come_out(coordinates: str, what: str) -> None:
    row = Row()
    stream = COORDINATES[what](row)
    assert stream is not None
    assert kind(stream.crd) in ("union", "intersect")
    domains = {"every one": FULL, "like no others": None, "those of that one": row.scan(A).domain}
    assert stream.domain == domains[coordinates]


def test_zeros_of_a_dense_part_are_among_the_values() -> None:
    assert Row().bundle(Apply(CONCAT, (part("A", DENSE), part("B", COMPRESSED, "i")))).zeros
    assert not Row().bundle(Apply(CONCAT, (part("A", COMPRESSED), part("B", COMPRESSED, "i")))).zeros


def test_zeros_go_where_a_joiner_takes_the_coordinates_further() -> None:
    dense_part = Apply(CONCAT, (part("A", DENSE), part("B", COMPRESSED, "i")))
    assert Row().bundle(Apply("neg", (dense_part,))).zeros
    assert not Row().bundle(Apply(MUL, (dense_part, view("C")))).zeros


def test_a_product_with_what_is_missing_makes_zeros() -> None:
    row = Row()
    row.space.cursor(d := view("D", DENSE)).missing = frozenset("i")
    row.bundle(Apply(MUL, (A, d)))
    assert row.builder.makes_zeros


def test_a_product_with_what_is_there_makes_none() -> None:
    row = Row()
    row.bundle(Apply(MUL, (A, view("D", DENSE))))
    assert not row.builder.makes_zeros


def test_a_factor_that_is_missing_makes_none_by_itself() -> None:
    row = Row()
    row.space.cursor(d := view("D", DENSE)).missing = frozenset("i")
    row.bundle(Apply(MUL, (d, Number(2))))
    assert not row.builder.makes_zeros
