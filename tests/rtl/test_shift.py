"""shift, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 1."""

import pytest

from samhw.graph import Arch
from samhw.primitives.shift.component import Shift
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed


def shift(extent, crd, *, arch=ARCH, **options):
    return run(Shift(arch=arch), {"crd": crd}, controls={"extent": extent}, **options)


@pytest.mark.parametrize(
    ("extent", "crd", "expected"),
    [
        (10, "0 3 S0 1 S1 D", "10@1 13@2 S0@3 11@4 S1@5 D@6"),
        (0, "7 S0 D S1:1 D", "7@1 S0@2 D@3 S1:1@4 D@5"),
        # A stop is no coordinate, whatever its payload; sums wrap.
        (4294967295, "0 1 S1:2 D", "4294967295@1 0@2 S1:2@3 D@4"),
    ],
)
def test_examples(extent, crd, expected):
    result = shift(extent, crd)
    assert result.pops["crd"] == timed(expected)
    assert not result.error


def test_one_slot():
    # The slot that is taken in 0 is free again in the cycle after its token is popped.
    assert shift(5, "0 1 S0 D", depth=1).pops["crd"] == timed("5@1 6@3 S0@5 D@7")


def test_longer_latency_and_narrower_coordinates():
    result = shift(65000, "1 1000 S0 D", arch=Arch(step=3, index_bits=16))
    assert result.pops["crd"] == timed("65001@3 464@4 S0@5 D@6")


def test_a_coordinate_is_missing():
    assert shift(1, "N S0 D", cycles=20).error == Error.PROTOCOL
