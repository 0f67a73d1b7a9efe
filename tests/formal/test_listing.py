"""Every primitive is proved; the mutants that the page shows are those of the tests."""

from pathlib import Path

from samhw.graph.spec import kinds
from tests.formal.listing import FIRINGS, STREAMS, mutants_table

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"

LEAST = 40


BEGINNINGS = {"root", "step_ref"}
ENDS = {"write_at", "write_compressed", "write_dense", "write_val"}
"""What has no outputs, or no inputs, has no streams to be proved beyond its firings."""


def test_the_streams_of_every_primitive_are_proved() -> None:
    assert {*kinds()} - STREAMS == BEGINNINGS | ENDS


def test_the_firings_of_every_primitive_are_proved() -> None:
    assert not {*kinds()} - FIRINGS


def test_the_mutants_of_the_page() -> None:
    """It shows some of them."""
    table = mutants_table()
    head, _, rows = table.partition("|---|---|\n")
    assert rows.count("\n") >= LEAST
    shown = PAGE.read_text("utf-8").partition(head)[2].partition("\n\n")[0].splitlines()[1:]
    assert len(shown) >= 5
    assert set(shown) <= set(rows.splitlines())
