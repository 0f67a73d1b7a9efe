"""The table *The end of a row* of docs/compiler.md, row by row."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from samhw.compiler.einsum import Apply
from samhw.compiler.lowering.lockstep import Bundle
from samhw.compiler.lowering.space import FULL, RowStream
from tests.compiler.lowering.document import table
from tests.compiler.lowering.row import DENSE, A, B, Row, kind, made, name, scans, view

BUNDLES: Mapping[str, Callable[[Row], Bundle]] = {
    "every coordinate": lambda row: Bundle(row.scan(view("D", DENSE))),
    "some coordinates": lambda row: row.bundle(A),
    "dense levels alone, one not missing": lambda row: dense_levels(row, 1),
    "dense levels alone, all missing": lambda row: dense_levels(row, 2),
    "values everywhere, dense levels alone, all missing": lambda row: everywhere(row),
    "values everywhere, something optional": lambda row: row.bundle(Apply("exp", (A,))),
}
DENSE_IN = {"none": "", "all": "i"}
"""The indices of which the result wants every coordinate."""


def dense_levels(row: Row, missing: int) -> Bundle:
    """Two dense levels, of which as many as said, from the left, have references that may be missing."""
    levels = view("D", DENSE), view("E", DENSE)
    for level in levels[:missing]:
        row.space.cursor(level).missing = frozenset("i")
    return Bundle(located=levels, complete=missing < len(levels))


def everywhere(row: Row) -> Bundle:
    """A function that is not zero where the operand stores nothing."""
    d = view("D", DENSE)
    row.space.cursor(d).missing = frozenset("i")
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
            assert (name(stream.crd), stream.domain, stream.filled) == ("scan_dense_E_i", FULL, False)
        case "a scan of the first":
            assert (name(stream.crd), stream.domain, stream.filled) == ("scan_dense_D_i", None, False)
        case "every coordinate":
            assert (stream.domain, stream.filled) == (FULL, True)
            names = scans(stream.crd) if bundle.optional else [name(stream.crd)]
            assert names[0] == "scan_dense_Y_i"
        case _:
            raise AssertionError(f"what is '{has}'?")


def test_every_end_of_a_row_is_tried() -> None:
    assert {row[0] for row in table("The end of a row")} == set(BUNDLES)


@pytest.mark.parametrize(("bundle", "added", "has"), table("The end of a row"))
def test_the_end_of_a_row(bundle: str, added: str, has: str) -> None:
    for wanted in added.split("; "):
        row = Row()
        entered = BUNDLES[bundle](row)
        before = replace(entered)
        stream, _ = row.finish(entered, DENSE_IN[wanted])
        expect(has, before, stream)


def test_every_bundle_has_a_row_for_every_goal() -> None:
    tried = [
        (bundle, wanted) for bundle, added, _ in table("The end of a row") for wanted in added.split("; ")
    ]
    assert sorted(tried) == sorted((bundle, wanted) for bundle in BUNDLES for wanted in DENSE_IN)


def test_optional_operands_are_brought_to_the_coordinates_of_the_row() -> None:
    row = Row()
    stream, bundle = row.finish(row.bundle(Apply("div", (A, B))))
    assert bundle.stream is not None
    assert bundle.stream.payloads.operands == {A, B}
    # United, and what only the optional one has goes again.
    assert kind(stream.crd) == "intersect"
    inputs = made(stream.crd).node.inputs
    assert [kind(inputs[port]) for port in ("crd0", "crd1")] == ["scan_compressed", "union"]


def test_optional_operands_need_no_intersection_where_the_row_has_every_coordinate() -> None:
    row = Row()
    scan = row.scan(view("D", DENSE))
    stream, _ = row.finish(Bundle(scan, optional=(row.bundle(A),)))
    assert kind(stream.crd) == "union"
