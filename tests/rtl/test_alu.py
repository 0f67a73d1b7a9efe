"""alu, against cycles worked out by hand from docs/primitives.md. What is pushed in t is popped in t +
`Arch.alu[op]`."""

import pytest

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.numerics import value_type
from samhw.rtl.actor import Error
from samhw.rtl.alu import Alu
from tests.rtl.bench import ARCH, Offer, run, timed, tokens

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""


def alu(op, *operands, value="i32", arch=ARCH, immediate=None, **options):
    component = Alu(arch=arch, value_type=value_type(value), op=op, immediate=immediate)
    return run(component, dict(zip("ab", operands, strict=False)), **options)


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("add", ["1 N S0 4 S1 D", "2 5 S0 N S1 D"], "3@2 5@3 S0@4 4@5 S1@6 D@7"),
        ("sub", ["7 3 S0 D", "2 N S0 D"], "5@2 3@3 S0@4 D@5"),
        ("sub", ["2 D", "3 D"], "4294967295@2 D@3"),
        ("mul", ["70000 N S0 D", "300 9 S0 D"], "21000000@4 0@5 S0@6 D@7"),
        ("neg", ["1 N S0 S1:1 D 2 D"], "4294967295@2 0@3 S0@4 S1:1@5 D@6 4294967294@7 D@8"),
    ],
)
def test_examples(op, operands, expected):
    result = alu(op, *operands)
    assert result.pops["val"] == timed(expected)
    assert not result.error


def test_waits_for_both_operands():
    result = alu("add", Offer(tokens("1 2 S0 D"), [0, 7]), Offer(tokens("1 2 S0 D"), [3]))
    assert result.pops["val"] == timed("2@5 4@9 S0@10 D@11")


def test_immediate():
    result = alu("mul", "256 N S0 D", value="fixed<16,8>", immediate=-0.5)
    assert result.pops["val"] == timed("65408@4 0@5 S0@6 D@7")


def test_latencies():
    assert alu("add", "1 D", "2 D", arch=Arch(alu={"add": 5})).pops["val"] == timed("3@5 D@6")
    assert alu("mul", "9 D", "2 D", value="i16", arch=Arch(alu={"mul": 3})).pops["val"] == timed("18@3 D@4")
    with pytest.raises(InputError, match=r"Arch\.alu\['mul'\] is 3; give at least 4"):
        alu("mul", "9 D", "2 D", arch=Arch(alu={"mul": 3}))
    with pytest.raises(InputError, match=r"Arch\.alu\['add'\] is 1"):
        alu("add", "9 D", "2 D", arch=Arch(alu={"add": 1}))


@pytest.mark.parametrize(
    ("op", "operands", "value", "error"),
    [
        ("add", ["127 D", "1 D"], "i8", Error.OVERFLOW),
        ("add", ["126 D", "1 D"], "i8", Error(0)),
        ("add", ["127 D", "1 D"], "fixed<8,4>", Error(0)),
        ("neg", ["128 D"], "i8", Error.OVERFLOW),
        ("mul", ["65536 D", "32768 D"], "i32", Error.OVERFLOW),
        ("mul", ["65536 D", "32767 D"], "i32", Error(0)),
        # Stops are no operands, whatever the unit makes of their payloads.
        ("add", ["S7 D", "S7 D"], "i8", Error(0)),
        ("add", ["1 S0 D", "1 S1 D"], "i32", Error.PROTOCOL),
        ("add", ["1 S0 D", "S0 D"], "i32", Error.PROTOCOL),
        ("add", ["D", "S0 D"], "i32", Error.PROTOCOL),
    ],
)
def test_errors(op, operands, value, error):
    assert alu(op, *operands, value=value, cycles=20).error == error


def test_unknown_operation():
    with pytest.raises(InputError, match="no unit for 'max' on i8"):
        alu("max", "1 D", "1 D", value="i8", arch=Arch(alu={"max": 2}))
    with pytest.raises(InputError, match=r"Arch\.alu has no latency for 'sub'"):
        alu("sub", "1 D", "1 D", arch=Arch(alu={"add": 2}))
