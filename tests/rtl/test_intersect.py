"""intersect, against cycles worked out by hand from docs/primitives.md. What is pushed in t is popped in t +
1."""

import pytest

from samhw.primitives.intersect.component import Intersect
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens


def intersect(crds, refs, *, widths=None, **options):
    component = Intersect(arch=ARCH, payload_widths=widths or [32] * len(crds))
    offers = {f"crd{i}": crd for i, crd in enumerate(crds)} | {f"ref{i}": ref for i, ref in enumerate(refs)}
    return run(component, offers, **options)


@pytest.mark.parametrize(
    ("crds", "refs", "crd", "outs"),
    [
        # Drop 1 in 0, 3 = 3 in 1, drop 4 in 2, 5 = 5 in 3.
        (
            ["1 3 5 S0 D", "3 4 5 S0 D"],
            ["10 11 12 S0 D", "20 21 22 S0 D"],
            "3@2 5@4 S0@5 D@6",
            ["11@2 12@4 S0@5 D@6", "20@2 22@4 S0@5 D@6"],
        ),
        # The rest of the longer fiber is dropped against the stop of the other.
        (
            ["1 2 S0 4 S1 D", "S0 4 S1 D"],
            ["10 11 S0 12 S1 D", "S0 20 S1 D"],
            "S0@3 4@4 S1@5 D@6",
            ["S0@3 12@4 S1@5 D@6", "S0@3 20@4 S1@5 D@6"],
        ),
        (["S1:1 D", "S1:1 D"], ["S1:1 D", "S1:1 D"], "S1:1@1 D@2", ["S1:1@1 D@2"] * 2),
        # EMPTY in a ref is a payload; the state after DONE is that of the start.
        (
            ["1 S0 D 1 S0 D", "1 S0 D 1 S0 D"],
            ["N S0 D 5 S0 D", "6 S0 D N S0 D"],
            "1@1 S0@2 D@3 1@4 S0@5 D@6",
            ["N@1 S0@2 D@3 5@4 S0@5 D@6", "6@1 S0@2 D@3 N@4 S0@5 D@6"],
        ),
        # Three: 1 and 2 are dropped together; so are 5 and 6 against the stop.
        (
            ["1 4 5 S0 D", "2 4 6 S0 D", "4 S0 D"],
            ["10 11 12 S0 D", "20 21 22 S0 D", "30 S0 D"],
            "4@2 S0@4 D@5",
            ["11@2 S0@4 D@5", "21@2 S0@4 D@5", "30@2 S0@4 D@5"],
        ),
        # Coordinates are unsigned.
        (
            ["4294967295 S0 D", "0 4294967295 S0 D"],
            ["1 S0 D", "2 3 S0 D"],
            "4294967295@2 S0@3 D@4",
            ["1@2 S0@3 D@4", "3@2 S0@3 D@4"],
        ),
    ],
)
def test_examples(crds, refs, crd, outs):
    result = intersect(crds, refs)
    assert result.pops["crd"] == timed(crd)
    for i, out in enumerate(outs):
        assert result.pops[f"ref{i}"] == timed(out)
    assert not result.error


def test_needs_only_the_refs_that_it_takes():
    # 1 is dropped in 0 without a look at ref1, which comes in 6; nothing goes on without crd1.
    refs = ["10 11 S0 D", Offer(tokens("20 S0 D"), [6])]
    result = intersect(["1 3 S0 D", "3 S0 D"], refs)
    assert result.takes["crd0"] == [0, 6, 7, 8]
    result = intersect(["1 3 S0 D", Offer(tokens("3 S0 D"), [4])], ["10 11 S0 D", "20 S0 D"])
    assert result.takes["crd0"] == [4, 5, 6, 7]


def test_drops_while_an_output_is_full():
    # ref1's slot: taken in 0, popped in 9. 2 and 3 are dropped in 1 and 2; the stop is pushed in 10.
    result = intersect(
        ["1 2 3 S0 D", "1 S0 D"],
        ["10 11 12 S0 D", "20 S0 D"],
        pops={"ref1": [9]},
        depths={"ref1": 1},
    )
    assert result.takes["crd0"] == [0, 1, 2, 10, 12]
    assert result.pops["crd"] == timed("1@1 S0@11 D@13")


def test_values_beside_references():
    result = intersect(["1 S0 D", "1 S0 D"], ["70000 S0 D", "200 S0 D"], widths=[32, 8])
    assert result.pops["ref0"] == timed("70000@1 S0@2 D@3")
    assert result.pops["ref1"] == timed("200@1 S0@2 D@3")


@pytest.mark.parametrize(
    ("crds", "refs"),
    [
        (["S0 D", "S1 D"], ["S0 D", "S1 D"]),
        (["S0 D", "S0:1 D"], ["S0 D", "S0:1 D"]),
        (["D", "1 S0 D"], ["D", "1 S0 D"]),
        (["D", "S0 D"], ["D", "S0 D"]),
        (["N S0 D", "1 S0 D"], ["N S0 D", "1 S0 D"]),
        # A ref that is not in lockstep with its crd.
        (["1 S0 D", "1 S0 D"], ["S0 D", "1 S0 D"]),
        (["1 S0 D", "1 S0 D"], ["1 1 S0 D", "1 S0 D"]),
    ],
)
def test_structures_that_disagree(crds, refs):
    assert intersect(crds, refs, cycles=10).error == Error.PROTOCOL
