"""The actor *hold* fires exactly when the page says, and does what it says: by induction."""

import pytest

from tests.formal.hold import PAGE, HoldContract, rows
from tests.formal.mutants import Mutant
from tests.formal.prover import Mode, check, needs_prover

pytestmark = needs_prover

TABLE = rows(PAGE.read_text("utf-8"))


def test_every_row_of_the_page() -> None:
    assert len(TABLE) == 8
    outcome = check(HoldContract(TABLE), Mode.INDUCTION, 1)
    assert outcome.answer == "holds", outcome


MUTANTS = [
    Mutant(
        "it waits for a head that it does not examine",
        "hold",
        "with m.If(held):\n                    table.row(takes=[self.inner],",
        "with m.If(held):\n                    table.row(needs=[self.outer], takes=[self.inner],",
    ),
    Mutant("the held payload is forgotten", "hold", "Mux(held, h.payload, outer.payload)", "outer.payload"),
    Mutant("a firing without room", "firing", "port.ready | ~condition", "port.ready | 1"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_break_it(mutant: Mutant) -> None:
    with mutant.applied():
        outcome = check(HoldContract(TABLE), Mode.BOUNDED, 5)
    assert outcome.answer == "broken", outcome


@pytest.mark.parametrize("row", [0, 4, 5])
def test_another_page_is_not_proved(row: int) -> None:
    """The page is what the RTL is held against: each word of it counts."""
    without = TABLE[:row] + TABLE[row + 1 :]
    assert check(HoldContract(without), Mode.BOUNDED, 5).answer == "broken"
