"""gather, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 1."""

import pytest

from samhw.primitives.gather.component import Gather
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens


def gather(levels, refs, **options):
    component = Gather(arch=ARCH, lanes=len(refs), levels=levels, payload_width=32)
    return run(component, {f"ref{lane}": ref for lane, ref in enumerate(refs)}, **options)


@pytest.mark.parametrize(
    ("levels", "refs", "out"),
    [
        (0, ["1 3 S0 4 S1 D", "N S0 S1 D"], "1@1 N@2 3@3 S0@4 4@5 S1@6 D@7"),
        # The last row is not that of the first lane whose list is over; twice.
        (
            1,
            ["1 2 S0 4 S1 D 5 S1 D", "3 S1 D S1:1 D"],
            "1@1 2@2 S0@3 3@4 S0@5 4@6 S1@7 D@8 5@9 S1@10 D@11",
        ),
        # Lists of two rows, the second one empty, of none, and of one that is empty.
        (
            1,
            ["7 S1 S1:1 S2 D", "S1 S1:1 S1:2 D", "S1:1 S1:1 S1:2 D"],
            "7@1 S0@2 S1@3 S1:1@4 S2@5 D@6",
        ),
        (2, ["1 S0 2 S1 S1:2 D", "3 S2 D"], "1@1 S0@2 2@3 S1@4 3@5 S1@6 S1:2@7 D@8"),
        (1, ["S2:2 D", "S2:2 D"], "S2:2@1 D@2"),
    ],
)
def test_examples(levels, refs, out):
    result = gather(levels, refs)
    assert result.pops["ref"] == timed(out)
    assert not result.error


def test_a_row_that_may_be_the_last_waits_for_the_next_lane_alone():
    refs = ["1 S1 D", Offer(tokens("2 S1 D"), [6]), Offer(tokens("S1:1 D"), [9])]
    assert gather(1, refs).pops["ref"] == timed("1@1 S0@7 2@8 S1@10 D@11")


@pytest.mark.parametrize(
    ("levels", "refs"),
    [
        (0, ["S0", "S1"]),
        (0, ["S0", "1"]),
        (1, ["S1", "S1:1", "S1"]),
        (0, ["D", "S0"]),
        (0, ["1 S1", "S1:1"]),
        (1, ["S2:2", "S1:2"]),
    ],
)
def test_lanes_that_do_not_agree(levels, refs):
    assert gather(levels, refs, cycles=20).error == Error.PROTOCOL
