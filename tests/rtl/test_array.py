"""array, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 2."""

import pytest

from samhw.graph import Arch
from samhw.primitives.array.component import Array
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens

VALS = [11, 22, 255]


def read(ref, *, arch=ARCH, **options):
    component = Array(arch=arch, stored_width=8, vals_capacity=3)
    return run(component, {"ref": ref}, memories={"mem_vals": VALS}, **options)


def test_examples():
    result = read("1 N 0 S0 2 S1 D 0 S0 S1:1 D")
    assert result.pops["val"] == timed("22@2 0@3 11@4 S0@5 255@6 S1@7 D@8 11@9 S0@10 S1:1@11 D@12")
    assert not result.error


def test_gaps_and_back_pressure():
    # Taken in 0, 5 and 6; the slots of the first two are free again in 21 and 22.
    result = read(Offer(tokens("0 1 2 S0 D"), [0, 5, 6]), pops={"val": [20]}, depth=2)
    assert result.takes["ref"] == [0, 5, 21, 22, 24]
    assert result.pops["val"] == timed("11@20 22@21 255@23 S0@24 D@26")


def test_longer_latency():
    assert read("2 N D", arch=Arch(memory=5)).pops["val"] == timed("255@5 0@6 D@7")


@pytest.mark.parametrize(
    ("ref", "error"), [("2 N D", Error(0)), ("3 D", Error.RANGE), ("4294967295 D", Error.RANGE)]
)
def test_references_beyond_the_memory(ref, error):
    assert read(ref).error == error
