"""What becomes of each operand as it goes down a row."""

from dataclasses import replace

import pytest

from samhw.compiler.einsum import MUL, Apply, Einsum, Intermediate
from samhw.compiler.fusion_table import Feed, PlannedNode
from samhw.compiler.lowering.advance import advance
from samhw.compiler.lowering.space import RowStream, ValueStream
from samhw.errors import ScheduleError
from tests.compiler.lowering.row import A, D, Row, kind, view


def down(row: Row, e: Einsum) -> None:
    """Takes e down the row."""
    stream, bundle = row.finish(row.bundle(e))
    advance(row.open, e, stream, bundle)


def resolved(row: Row, source: Feed) -> PlannedNode:
    return row.builder.table.resolve(source).node


def computed(row: Row, *rows: str) -> Intermediate:
    """What has been computed, with rows that are not taken up yet."""
    operand = Intermediate("T", view("T_operand"))
    node = PlannedNode("reduce_vector", "T", 1, {})
    pending = tuple(RowStream(index, node.output(f"crd{n}"), None) for n, index in enumerate(rows))
    row.space.streams[operand] = ValueStream(node.output("val"), pending)
    return operand


def test_a_view_with_the_row_goes_on_with_its_payload() -> None:
    row = Row()
    down(row, Apply(MUL, (A, D)))
    assert kind(row.builder.table.resolve(row.space.cursor(A).ref)) == "scan_compressed"
    assert kind(row.builder.table.resolve(row.space.cursor(D).ref)) == "locate"
    assert row.space.cursor(A).level == row.space.cursor(D).level == 1


def test_a_view_without_the_row_is_repeated() -> None:
    row, other = Row(), view("B", index="j")
    down(row, Apply(MUL, (A, other)))
    repeat = resolved(row, row.space.cursor(other).ref)
    assert (repeat.kind, repeat.params["payload"]) == ("repeat", "ref")
    assert row.space.cursor(other).level == 0


def test_what_a_sieve_has_left_is_repeated_as_values() -> None:
    row, mask = Row(), replace(view("M", index="j"), pattern=True, sieve=True)
    row.space.cursor(mask).level = 1
    down(row, Apply(MUL, (A, mask)))
    assert resolved(row, row.space.cursor(mask).ref).params["payload"] == "val"


def test_values_are_repeated() -> None:
    row = Row()
    operand = computed(row)
    down(row, Apply(MUL, (A, operand)))
    repeat = resolved(row, row.space.streams[operand].val)
    assert (repeat.kind, repeat.params["payload"]) == ("repeat", "val")


def test_the_outer_row_of_a_nested_stream_is_taken_up() -> None:
    row = Row()
    operand = computed(row, "i", "j")
    down(row, operand)
    assert [pending.index for pending in row.space.streams[operand].pending] == ["j"]


def test_a_stream_cannot_be_repeated_before_its_rows_are_taken_up() -> None:
    row = Row()
    with pytest.raises(ScheduleError, match="T gives a stream over j inside of i"):
        down(row, Apply(MUL, (A, computed(row, "j"))))


def test_an_inner_space_goes_its_own_way() -> None:
    row = Row()
    row.space.inner().cursor(A)
    assert A not in row.space.cursors
    row.space.cursor(D)
    further = row.space.inner()
    further.cursor(D).level = 1
    further.enter(RowStream("i", row.space.root, None))
    assert (row.space.cursor(D).level, row.space.depth, row.space.bound) == (0, 0, frozenset())
    assert (further.depth, further.bound) == (1, {"i"})
