"""drop_crd, against cycles worked out by hand from docs/primitives.md. What is pushed in t is popped in t +
1."""

import pytest

from samhw.primitives.drop_crd.component import DropCrd
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens


def drop(outer, inner, **options):
    return run(DropCrd(arch=ARCH), {"outer": outer, "inner": inner}, **options)


@pytest.mark.parametrize(
    ("outer", "inner", "outers", "inners"),
    [
        # {1: [5], 2: [], 3: [6]}: S0 is held back in 1, dropped with the 2, pushed before 6 in 3.
        ("1 2 3 S0 D", "5 S0 S0 6 S1 D", "1@1 3@4 S0@5 D@7", "5@1 S0@4 6@5 S1@6 D@7"),
        # {1: [5, 6], 2: []}: the stop that was held back becomes that of the list.
        ("1 2 S0 D", "5 6 S0 S1 D", "1@1 S0@5 D@7", "5@1 6@2 S1@6 D@7"),
        # {1: [], 2: [5]}: nothing is held back at the beginning.
        ("1 2 S0 D", "S0 5 S1 D", "2@2 S0@3 D@4", "5@2 S1@3 D@4"),
        # {1: []} and {}: a list without fibers.
        ("1 S0 D", "S1 D", "S0@2 D@3", "S1:1@2 D@3"),
        ("1 2 S0 D", "S0 S1 D", "S0@3 D@4", "S1:1@3 D@4"),
        ("S0 D", "S1:1 D", "S0@1 D@2", "S1:1@1 D@2"),
        # [{1: [5]}, {2: []}, {3: [6]}], and with the empty one at the end.
        ("1 S0 2 S0 3 S1 D", "5 S1 S1 6 S2 D", "1@1 S0@2 S0@4 3@5 S1@6 D@7", "5@1 S1@2 S1:1@4 6@5 S2@6 D@7"),
        ("1 S0 2 S1 D", "5 S1 S2 D", "1@1 S0@2 S1@4 D@5", "5@1 S1@2 S1:2@4 D@5"),
        # Twice, with a token held back at the first DONE.
        (
            "1 2 S0 D 3 S0 D",
            "5 S0 S1 D 6 S1 D",
            "1@1 S0@4 D@6 3@7 S0@8 D@9",
            "5@1 S1@5 D@6 6@7 S1@8 D@9",
        ),
    ],
)
def test_examples(outer, inner, outers, inners):
    result = drop(outer, inner)
    assert result.pops["outer"] == timed(outers)
    assert result.pops["inner"] == timed(inners)
    assert not result.error


def test_looks_at_the_outer_head_only_when_it_must():
    result = drop(Offer(tokens("1 2 S0 D"), [0, 10]), "5 6 S0 7 S1 D")
    assert result.takes["inner"] == [0, 1, 2, 10, 11, 13]
    assert result.pops["inner"] == timed("5@1 6@2 S0@11 7@12 S1@13 D@14")


def test_a_stop_that_is_held_back_needs_no_slot():
    # inner's one slot: 5 pushed in 0, popped in 9. The S0 after it is taken in 1, 6 is pushed after S0.
    result = drop("1 2 S0 D", "5 S0 6 S1 D", pops={"inner": [9]}, depths={"inner": 1})
    assert result.takes["inner"] == [0, 1, 10, 12, 16]
    assert result.pops["inner"] == timed("5@9 S0@11 6@13 S1@15 D@17")


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("S0 D", "5 S1 D"),
        ("1 S0 D", "S1:1 D"),
        ("1 2 S0 D", "5 S1 D"),
        ("1 D", "5 S1 D"),
        ("1 S0 D", "N S1 D"),
        ("N S0 D", "1 S1 D"),
        ("S0 D", "S0 S1 D"),
    ],
)
def test_structures_that_disagree(outer, inner):
    assert drop(outer, inner, cycles=20).error == Error.PROTOCOL
