"""recur, against cycles worked out by hand from docs/primitives.md."""

from random import Random

import pytest

from samhw.errors import InputError
from samhw.graph import DONE, VAL, Arch, Token, stop
from samhw.graph.numerics import value_type
from samhw.primitives.recur.component import Recur
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, run
from tests.support.streams import timed

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""


def recur(factor, val, *, value="i32", arch=ARCH, **options):
    component = Recur(arch=arch, value_type=value_type(value))
    return run(component, {"factor": factor, "val": val}, **options)


def test_a_fiber():
    # Five cycles a step: spread in 0, 5, 10 and 15, add in 20; the end also chain in 23 and add in 28.
    result = recur("5 2 S0 D", "3 1 S0 D")
    assert result.pops["val"] == timed("3@25 7@26 S0@27 D@33")
    assert not result.error


def test_more_than_a_block():
    # The block is whole at spread3 in 30, at chain in 35, so that the seventeenth element has its carry in
    # 40, and the end, after the loop, is at add in 46.
    fiber = "1 " * 17 + "S0 D"
    expected = " ".join(f"{k + 1}@{25 + k}" for k in range(16)) + " 17@45 S0@46 D@51"
    assert recur(fiber, fiber).pops["val"] == timed(expected)


def test_empty_is_zero():
    found = recur("1 N 3 S0 D", "4 5 N S0 D").pops["val"]
    assert [token for _, token in found[:3]] == [Token(VAL, 4), Token(VAL, 5), Token(VAL, 15)]


@pytest.mark.parametrize("cycles", [11, 16])
def test_it_takes_an_element_in_every_cycle(cycles):
    arch = Arch(reduce={"f32": {"recur": cycles}})
    random = Random(cycles)
    fibers = [random.choice([1, 15, 16, 17, 50]) for _ in range(8)]
    one = int(value_type("f32").encode(1.0))
    stream = [token for n in fibers for token in (*[Token(VAL, one)] * n, stop(0))]
    stream.append(Token(DONE))
    result = recur(stream, stream, value="f32", arch=arch, depth=40, cycles=1000)
    assert result.takes["val"] == list(range(len(stream)))


def test_overflow():
    assert recur("1 100 S0 D", "2 1 S0 D", value="i8").error == Error.OVERFLOW
    # Of factors, too.
    assert recur("100 100 100 100 S0 D", "0 0 0 0 S0 D", value="i8").error == Error.OVERFLOW
    assert not recur("100 1 S0 D", "2 1 S0 D", value="i8").error


def test_streams_that_do_not_agree():
    assert recur("1 S0 D", "S0 D").error == Error.PROTOCOL


def test_latencies_that_cannot_be():
    with pytest.raises(InputError, match=r"'recur' on f32 in Arch\.reduce is 9; give at least 11"):
        Recur(arch=Arch(reduce={"f32": {"recur": 9}}), value_type=value_type("f32"))
    with pytest.raises(InputError, match=r"\['recur'\] is 17; give at most 16"):
        Arch(reduce={"f32": {"recur": 17}})
