"""reduce_scalar, against cycles worked out by hand from docs/primitives.md.

What accumulate pushes in t is at emit in t + 1, and what emit pushes then is popped in t + 2.
"""

import pytest

from samhw.numerics import value_type
from samhw.rtl.actor import Error
from samhw.rtl.reduce_scalar import ReduceScalar
from tests.rtl.bench import ARCH, Offer, run, timed, tokens


def reduce(val, *, op="sum", value="i32", **options):
    return run(ReduceScalar(arch=ARCH, value_type=value_type(value), op=op), {"val": val}, **options)


@pytest.mark.parametrize(
    ("val", "expected"),
    [
        # The sums are pushed in 2 and 4; the second brings a stop along.
        ("1 2 S0 3 S1 D", "3@4 3@6 S0@7 D@8"),
        ("1 2 N S0 D 5 S0 D", "3@5 D@6 5@8 D@9"),
        # An empty fiber is a zero; a list without fibers is none.
        ("S0 D", "0@2 D@3"),
        ("S0 S0 4 S1 D", "0@2 0@3 4@5 S0@6 D@7"),
        ("S1 D", "0@2 S0@3 D@4"),
        ("S1:1 D", "S0@2 D@3"),
        ("S2:2 D", "S1:1@2 D@3"),
        # [[[1], []], [], [[2]]]: the emitter needs two cycles for a sum and its stop.
        ("1 S0 S1 S1:1 2 S2 D", "1@3 0@4 S0@5 S0@6 2@7 S1@8 D@9"),
    ],
)
def test_examples(val, expected):
    result = reduce(val)
    assert result.pops["val"] == timed(expected)
    assert not result.error


def test_internal_channels_hold_three():
    # Five fibers of nothing: emit is blocked by the full output in 2, the channels take three sums more.
    result = reduce("S0 S0 S0 S0 S0 S0 D", pops={"val": [20]}, depth=1)
    assert result.takes["val"][:6] == [0, 1, 2, 3, 22, 24]


def test_gaps():
    result = reduce(Offer(tokens("1 2 S0 D"), [0, 9]))
    assert result.pops["val"] == timed("3@12 D@13")


@pytest.mark.parametrize(
    ("op", "val", "expected"),
    [
        ("max", "251 253 252 S0 D", 253),
        ("max", "251 N S0 D", 0),
        ("max", "3 127 128 S0 D", 127),
        ("min", "251 253 252 S0 D", 251),
        ("min", "3 5 S0 D", 3),
        ("sum", "251 3 S0 D", 254),
    ],
)
def test_operations(op, val, expected):
    assert reduce(val, op=op, value="i8").pops["val"][0][1].payload == expected


@pytest.mark.parametrize(
    ("val", "value", "error"),
    [
        ("100 27 S0 100 S1 D", "i8", Error(0)),
        ("100 28 S0 D", "i8", Error.OVERFLOW),
        # 128 is the lowest value; as the first of its fiber it is not added to what is left in the
        # accumulator.
        ("128 S0 128 S1 D", "i8", Error(0)),
        ("128 255 S0 D", "i8", Error.OVERFLOW),
        ("100 28 S0 D", "fixed<8,2>", Error(0)),
    ],
)
def test_overflow(val, value, error):
    assert reduce(val, value=value).error == error


def test_saturation():
    assert reduce("100 28 255 S0 D", value="fixed<8,2>").tokens("val") == tokens("126 D")
