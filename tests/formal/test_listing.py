"""Every primitive is proved, or the page says why not; its list of mutants is that of the tests."""

from samhw.rtl.registry import COMPONENTS
from tests.formal.listing import FIRINGS, PAGE, STREAMS, mutants_table, stated

LEAST = 40


def test_every_primitive_is_proved() -> None:
    """What has no outputs, or no inputs, has no streams to be proved beyond its firings."""
    assert not COMPONENTS.keys() - STREAMS - FIRINGS


def test_the_page_says_whose_firings_are_not_proved() -> None:
    reasons = stated(PAGE.read_text("utf-8"))
    assert not COMPONENTS.keys() - FIRINGS - reasons
    assert not reasons - {"kind", "---"} - COMPONENTS.keys()


def test_the_mutants_of_the_page() -> None:
    table = mutants_table()
    assert table in PAGE.read_text("utf-8"), "run python -m tests.formal.listing"
    assert table.count("\n") - 2 >= LEAST
