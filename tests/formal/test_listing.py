"""Every primitive is proved; the page's list of mutants is that of the tests."""

from samhw.graph.spec import kinds
from tests.formal.listing import FIRINGS, PAGE, STREAMS, mutants_table

LEAST = 40


BEGINNINGS = {"root", "step_ref"}
ENDS = {"write_at", "write_compressed", "write_dense", "write_val"}
"""What has no outputs, or no inputs, has no streams to be proved beyond its firings."""


def test_the_streams_of_every_primitive_are_proved() -> None:
    assert {*kinds()} - STREAMS == BEGINNINGS | ENDS


def test_the_firings_of_every_primitive_are_proved() -> None:
    assert not {*kinds()} - FIRINGS


def test_the_mutants_of_the_page() -> None:
    table = mutants_table()
    assert table in PAGE.read_text("utf-8"), "run python -m tests.formal.listing"
    assert table.count("\n") - 2 >= LEAST
