"""repeat, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 1."""

import pytest

from samhw.primitives.repeat.component import Repeater
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens


def repeat(ref, crd, *, width=32, **options):
    return run(Repeater(arch=ARCH, payload_width=width), {"ref": ref, "crd": crd}, **options)


@pytest.mark.parametrize(
    ("ref", "crd", "expected"),
    [
        # [7, 8] over [[0, 1], [2]], one token a cycle.
        ("7 8 S0 D", "0 1 S0 2 S1 D", "7@1 7@2 S0@3 8@4 S1@5 D@6"),
        # Over [[], [5], []]: only the empty fiber at the end costs a cycle.
        ("7 8 9 S0 D", "S0 5 S0 S1 D", "S0@1 8@2 S0@3 S1@5 D@6"),
        ("7 S0 D", "S1 D", "S1@2 D@3"),
        ("S0 D", "S1:1 D", "S1:1@1 D@2"),
        # EMPTY is repeated too.
        ("N 6 S0 D", "3 4 S0 5 S1 D", "N@1 N@2 S0@3 6@4 S1@5 D@6"),
        # Depth 0 outside; twice.
        ("7 D 8 D", "0 1 S0 D 2 S0 D", "7@1 7@2 S0@3 D@4 8@5 S0@6 D@7"),
        ("7 D", "S0 D", "S0@1 D@2"),
        # [[7], [], [8]] over [[[1]], [], [[2]]], and the list without lists.
        ("7 S0 S0 8 S1 D", "1 S1 S1:1 2 S2 D", "7@1 S1@2 S1:1@3 8@4 S2@5 D@6"),
        ("S1:1 D", "S2:2 D", "S2:2@1 D@2"),
    ],
)
def test_examples(ref, crd, expected):
    result = repeat(ref, crd)
    assert result.pops["ref"] == timed(expected)
    assert not result.error


def test_looks_at_the_outer_head_only_when_it_must():
    # 8 comes in 10: the stop of the first fiber does not wait for it, the next coordinate does.
    result = repeat(Offer(tokens("7 8 S0 D"), [0, 10]), "0 1 S0 2 S1 D")
    assert result.pops["ref"] == timed("7@1 7@2 S0@3 8@11 S1@12 D@13")


def test_the_outer_payload_stays_until_it_is_needed():
    # The stop of the empty fiber comes in 20; before, nothing says that 7 may go.
    result = repeat("7 S0 D", Offer(tokens("S1 D"), [20]))
    assert result.takes["ref"] == [20, 21, 22]
    assert result.pops["ref"] == timed("S1@22 D@23")


def test_waits_for_a_slot():
    result = repeat("7 D", "0 1 S0 D", depth=2, pops={"ref": [0, 9]})
    # Popped in 1 and 9: the pushes of 0 1 S0 D in 0, 1, 2, 10.
    assert result.pops["ref"] == timed("7@1 7@9 S0@10 D@11")
    assert result.takes["crd"] == [0, 1, 2, 10]


def test_narrow_values():
    result = repeat("200 7 S0 D", "70000 S0 3 S1 D", width=8)
    assert result.pops["ref"] == timed("200@1 S0@2 7@3 S1@4 D@5")


@pytest.mark.parametrize(
    ("ref", "crd"),
    [
        ("S0 D", "3 S1 D"),
        ("7 D", "S1 D"),
        ("7 8 S0 D", "3 S1 D"),
        ("7 S0 D", "S1:1 D"),
        ("7 S0 D", "1 S0 D"),
        ("7 D", "N S0 D"),
        ("7 S1 D", "1 S1 D"),
    ],
)
def test_structures_that_disagree(ref, crd):
    assert repeat(ref, crd, cycles=20).error == Error.PROTOCOL
