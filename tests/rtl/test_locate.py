"""locate, with cycles worked out by hand from the rule. What is pushed in t is popped in t + 4."""

import pytest

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.primitives.locate.component import Locate
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""


def locate(extent, ref, crd, *, arch=ARCH, **options):
    return run(Locate(arch=arch), {"ref": ref, "crd": crd}, controls={"extent": extent}, **options)


@pytest.mark.parametrize(
    ("extent", "ref", "crd", "expected"),
    [
        (10, "2 3 S0 D", "1 4 S0 0 S1 D", "21@4 24@5 S0@6 30@7 S1@8 D@9"),
        (10, "0 D 0 D", "7 9 S0 D S0 D", "7@4 9@5 S0@6 D@7 S0@8 D@9"),
        (10, "N 1 S0 D", "5 S0 S1 D", "N@4 S0@5 S1@7 D@8"),
        (50000, "70000 S0 D", "49999 S1 D", "3500049999@4 S1@5 D@6"),
    ],
)
def test_examples(extent, ref, crd, expected):
    result = locate(extent, ref, crd)
    assert result.pops["ref"] == timed(expected)
    assert not result.error


def test_one_slot():
    # A slot is taken at the push in 0 although the token comes in 4; it is free in 5.
    result = locate(10, "2 D", "1 4 S0 D", depth=1)
    assert result.pops["ref"] == timed("21@4 24@9 S0@14 D@19")


def test_latencies():
    result = locate(10, "2 D", "1 4 S0 D", arch=Arch(locate=7))
    assert result.pops["ref"] == timed("21@7 24@8 S0@9 D@10")
    result = locate(10, "2 D", "1 4 S0 D", arch=Arch(locate=3, index_bits=16))
    assert result.pops["ref"] == timed("21@3 24@4 S0@5 D@6")
    with pytest.raises(InputError, match=r"Arch\.locate is 2; give at least 3"):
        Locate(arch=Arch(locate=2, index_bits=16))


@pytest.mark.parametrize(
    ("crd", "error"), [("9 S0 D", Error(0)), ("10 S0 D", Error.RANGE), ("99 S0 D", Error.RANGE)]
)
def test_coordinates_beyond_the_extent(crd, error):
    assert locate(10, "0 D", crd).error == error


def test_structures_that_disagree():
    assert locate(10, "S0 D", "1 S1 D", cycles=20).error == Error.PROTOCOL
