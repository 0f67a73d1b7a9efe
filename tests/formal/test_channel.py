"""Channels keep their contract, whatever source and sink do: by induction."""

import pytest

from tests.formal.channel import ChannelContract
from tests.formal.mutants import Mutant
from tests.formal.prover import Mode, check, needs_prover
from tests.support.thorough import sample

pytestmark = needs_prover

EVERY = [(depth, latency) for depth in (1, 2, 3, 4, 5, 8, 32, 33, 40) for latency in (1, 2, 4)]
FEW = [(1, 1), (2, 2), (3, 1), (4, 4), (33, 2)]


@pytest.mark.parametrize(("depth", "latency"), sample(EVERY, FEW))
def test_the_contract(depth: int, latency: int) -> None:
    outcome = check(ChannelContract(depth, latency), Mode.INDUCTION, latency + 2)
    assert outcome.answer == "holds", outcome


def test_the_token_that_is_followed_comes_out_of_a_full_channel() -> None:
    assert check(ChannelContract(3, 2), Mode.REACHED, 14).answer == "holds"


MUTANTS = [
    Mutant("depth less one", "channel", "taken == self.depth - 1", "taken == self.depth - 2"),
    Mutant("depth and one more", "channel", "taken == self.depth - 1", "taken == self.depth"),
    Mutant("a slot is free in the cycle of the pop", "channel", "eq(~self.full)", "eq(~self.full | pop)"),
    Mutant("ready waits for valid", "channel", "eq(~self.full)", "eq(~self.full & (self.i.push | valid))"),
    Mutant("the head leaves without a pop", "channel", "advance.eq(pop | ~valid)", "advance.eq(1)"),
    Mutant(
        "a token is doubled",
        "channel",
        "valid.eq(more | self.i.strobe)",
        "valid.eq(more | self.i.strobe | pop)",
    ),
    Mutant("tokens are swapped", "channel", "Mux(more, following,", "Mux(more & ~self.i.strobe, following,"),
    Mutant("tokens in the memory are forgotten", "channel", "more.eq(tail != following)", "more.eq(0)"),
    Mutant("the bits of the next token", "channel", "places[:-1], places[1:]", "places[:-1], places[:-1]"),
    Mutant("a place is overwritten", "channel", "write.en.eq(self.i.strobe)", "write.en.eq(1)"),
    Mutant("the ring is too short", "channel", "^ ~state[:-1].any()", ""),
    Mutant("a bit is left out", "channel", "given |= dict", "given = dict"),
    Mutant("a cycle late", "output", "self.latency - 1 - self.registers", "self.latency - self.registers"),
    Mutant("a stop becomes a payload", "output", "token.kind.eq(control.kind)", "token.kind.eq(0)"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_break_it(mutant: Mutant) -> None:
    with mutant.applied():
        outcome = check(ChannelContract(4, 2), Mode.BOUNDED, 14)
    assert outcome.answer == "broken", outcome
    assert outcome.trace
