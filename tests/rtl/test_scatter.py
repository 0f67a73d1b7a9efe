"""scatter, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 1."""

import pytest

from samhw.primitives.scatter.component import Scatter
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def scatter(lanes, ref, **options):
    return run(Scatter(arch=ARCH, lanes=lanes, payload_width=32), {"ref": ref}, **options)


@pytest.mark.parametrize(
    ("lanes", "ref", "outs"),
    [
        # Each list begins with lane 0, and each run.
        (
            2,
            "1 N 3 S0 4 S1 D 5 S1 D",
            ["1@1 3@3 S0@4 4@5 S1@6 D@7 5@8 S1@9 D@10", "N@2 S0@4 S1@6 D@7 S1@9 D@10"],
        ),
        (3, "1 2 3 4 S0 D", ["1@1 4@4 S0@5 D@6", "2@2 S0@5 D@6", "3@3 S0@5 D@6"]),
        (2, "S1:2 D", ["S1:2@1 D@2", "S1:2@1 D@2"]),
    ],
)
def test_examples(lanes, ref, outs):
    result = scatter(lanes, ref)
    for lane, out in enumerate(outs):
        assert result.pops[f"ref{lane}"] == timed(out)
    assert not result.error


def test_one_slot_for_each_lane():
    # The slot that lane 0 takes in 0 is free again in 2, when lane 1's is taken already.
    assert scatter(2, "1 2 3 4 S0 D", depth=1).pops["ref1"] == timed("2@2 4@4 S0@6 D@8")
