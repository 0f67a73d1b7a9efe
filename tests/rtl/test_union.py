"""union, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 1."""

import pytest

from samhw.primitives.union.component import Union
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens


def union(crds, refs, *, widths=None, coordinate_bits=None, **options):
    component = Union(arch=ARCH, payload_widths=widths or [32] * len(crds), coordinate_bits=coordinate_bits)
    offers = {f"crd{i}": crd for i, crd in enumerate(crds)} | {f"ref{i}": ref for i, ref in enumerate(refs)}
    return run(component, offers, **options)


def test_compares_the_bits_that_coordinates_have():
    """Above them there may stand anything."""
    crds, refs = ["9 3 S0 D", "2 11 S0 D"], ["10 11 S0 D", "20 21 S0 D"]
    result = union(crds, refs, coordinate_bits=3)
    assert result.pops["ref0"] == timed("10@1 N@2 11@3 S0@4 D@5")
    assert result.pops["ref1"] == timed("N@1 20@2 21@3 S0@4 D@5")


@pytest.mark.parametrize(
    ("crds", "refs", "crd", "outs"),
    [
        (
            ["1 3 S0 D", "2 3 S0 D"],
            ["10 11 S0 D", "20 21 S0 D"],
            "1@1 2@2 3@3 S0@4 D@5",
            ["10@1 N@2 11@3 S0@4 D@5", "N@1 20@2 21@3 S0@4 D@5"],
        ),
        # One side is empty, then both are.
        (
            ["S0 S0 3 S1 D", "7 S0 S0 S1 D"],
            ["S0 S0 30 S1 D", "20 S0 S0 S1 D"],
            "7@1 S0@2 S0@3 3@4 S1@5 D@6",
            ["N@1 S0@2 S0@3 30@4 S1@5 D@6", "20@1 S0@2 S0@3 N@4 S1@5 D@6"],
        ),
        # A payload that is EMPTY already passes; twice.
        (
            ["1 S0 D 2 S0 D", "1 S0 D S0 D"],
            ["N S0 D 4 S0 D", "6 S0 D S0 D"],
            "1@1 S0@2 D@3 2@4 S0@5 D@6",
            ["N@1 S0@2 D@3 4@4 S0@5 D@6", "6@1 S0@2 D@3 N@4 S0@5 D@6"],
        ),
        # Three, with equals among them and a stop beside them.
        (
            ["1 4 S0 D", "1 5 S0 D", "4 S0 D"],
            ["10 11 S0 D", "20 21 S0 D", "30 S0 D"],
            "1@1 4@2 5@3 S0@4 D@5",
            ["10@1 11@2 N@3 S0@4 D@5", "20@1 N@2 21@3 S0@4 D@5", "N@1 30@2 N@3 S0@4 D@5"],
        ),
    ],
)
def test_examples(crds, refs, crd, outs):
    result = union(crds, refs)
    assert result.pops["crd"] == timed(crd)
    for i, out in enumerate(outs):
        assert result.pops[f"ref{i}"] == timed(out)
    assert not result.error


def test_needs_only_the_refs_that_it_takes():
    result = union(["1 3 S0 D", "2 S0 D"], ["10 11 S0 D", Offer(tokens("20 S0 D"), [6])])
    # 1 is passed in 0 without a look at ref1; 2 waits for it.
    assert result.takes["crd0"] == [0, 7, 8, 9]
    assert result.takes["crd1"] == [6, 8, 9]


def test_values_beside_references():
    result = union(["1 S0 D", "2 S0 D"], ["70000 S0 D", "200 S0 D"], widths=[32, 8])
    assert result.pops["ref0"] == timed("70000@1 N@2 S0@3 D@4")
    assert result.pops["ref1"] == timed("N@1 200@2 S0@3 D@4")


@pytest.mark.parametrize(
    ("crds", "refs"),
    [
        (["S0 D", "S1 D"], ["S0 D", "S1 D"]),
        (["D", "1 S0 D"], ["D", "1 S0 D"]),
        (["D", "S0 D"], ["D", "S0 D"]),
        (["N S0 D", "1 S0 D"], ["N S0 D", "1 S0 D"]),
        (["1 S0 D", "2 S0 D"], ["S0 D", "1 S0 D"]),
        (["1 S0 D", "1 S0 D"], ["1 1 S0 D", "1 S0 D"]),
    ],
)
def test_structures_that_disagree(crds, refs):
    assert union(crds, refs, cycles=10).error == Error.PROTOCOL
