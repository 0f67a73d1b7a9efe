"""The banks of a vector reducer have what was accumulated, and updates are spaced: to a bound."""

import pytest

from tests.formal.banks import BankContract
from tests.formal.mutants import Mutant
from tests.formal.prover import Mode, check, check_all, needs_prover
from tests.support.thorough import THOROUGH

pytestmark = needs_prover

BOUND = 16 if THOROUGH else 10


def test_a_place_has_what_its_updates_have_made() -> None:
    broken = check_all({str(latency): BankContract(latency) for latency in (1, 2, 3)}, Mode.BOUNDED, BOUND)
    assert not broken, "\n".join(f"{latency}: {outcome}" for latency, outcome in broken.items())


MUTANTS = [
    Mutant(
        "an update comes a cycle early", "banked_memory", "meets[1 : self.latency]", "meets[2 : self.latency]"
    ),
    Mutant(
        "a result that has just been written is overlooked",
        "banked_memory",
        "Mux(read_after_two, written, read_word)",
        "read_word",
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_break_it(mutant: Mutant) -> None:
    with mutant.applied():
        outcome = check(BankContract(2), Mode.BOUNDED, BOUND)
    assert outcome.answer == "broken", outcome
