"""alu, against cycles worked out by hand from docs/primitives.md. What is pushed in t is popped in t +
`Arch.alu_latency(op, type)`."""

import pytest

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.primitives.alu.component import Alu
from samhw.rtl.actor import Error
from tests.rtl.bench import ARCH, Offer, run
from tests.support.streams import timed, tokens

pytestmark = pytest.mark.filterwarnings("ignore:.*created but never used")
"""Components that refuse their parameters."""


def alu(op, *operands, value="i32", to=None, arch=ARCH, immediates=None, **options):
    component = Alu(
        arch=arch,
        value_type=value_type(value),
        op=op,
        to=None if to is None else value_type(to),
        immediates=immediates,
    )
    assert component.o.val.signature.shape["payload"].shape == max(value_type(to or value).width, 8)
    return run(component, dict(zip(component.i.signature.members, operands, strict=True)), **options)


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("add", ["1 N S0 4 S1 D", "2 5 S0 N S1 D"], "3@2 5@3 S0@4 4@5 S1@6 D@7"),
        ("sub", ["7 3 S0 D", "2 N S0 D"], "5@2 3@3 S0@4 D@5"),
        ("sub", ["2 D", "3 D"], "4294967295@2 D@3"),
        ("mul", ["70000 N S0 D", "300 9 S0 D"], "21000000@4 0@5 S0@6 D@7"),
        ("neg", ["1 N S0 S1:1 D 2 D"], "4294967295@2 0@3 S0@4 S1:1@5 D@6 4294967294@7 D@8"),
        # The condition comes first; a missing one is zero.
        ("select", ["7 N S0 D", "1 2 S0 D", "3 4 S0 D"], "1@2 4@3 S0@4 D@5"),
    ],
)
def test_examples(op, operands, expected):
    result = alu(op, *operands)
    assert result.pops["val"] == timed(expected)
    assert not result.error


@pytest.mark.parametrize(
    ("value", "op", "operands", "expected"),
    [
        # 1.5 + 0.25, 0 + 2.
        (
            "f32",
            "add",
            ["0x3fc00000 N S0 D", "0x3e800000 0x40000000 S0 D"],
            "0x3fe00000@8 0x40000000@9 S0@10",
        ),
        ("bf16", "add", ["0x3fc0 N S0 D", "0x3e80 0x4000 S0 D"], "0x3fe0@6 0x4000@7 S0@8"),
        # 1.5 * -2, infinity * 0: zero wins.
        ("f32", "mul", ["0x3fc00000 0x7f800000 D", "0xc0000000 N D"], "0xc0400000@6 0@7"),
        ("bf16", "mul", ["0x3fc0 0x7f80 D", "0xc000 N D"], "0xc040@4 0@5"),
        # -0 is no greater than +0, and a NaN than nothing.
        ("f32", "lt", ["0x80000000 0x3f800000 D", "N 0x7fc00000 D"], "0@2 0@3"),
        ("f32", "le", ["0x80000000 0x3f800000 D", "N 0x7fc00000 D"], "0x3f800000@2 0@3"),
        ("bf16", "relu", ["0xbf80 0x3f80 D"], "0@2 0x3f80@3"),
    ],
)
def test_floating_point(value, op, operands, expected):
    # Also that a result out of its range is no error.
    result = alu(op, *map(in_decimal, operands), value=value)
    assert result.pops["val"][:-1] == timed(in_decimal(expected))
    assert not result.error


def in_decimal(text: str) -> str:
    """With words in decimal, as the bench reads them."""
    words = (word.partition("@") for word in text.split())
    return " ".join((str(int(w, 16)) if w.startswith("0x") else w) + at + t for w, at, t in words)


def test_infinity_is_no_error():
    largest = str(0x7F7F_FFFF)
    result = alu("add", f"{largest} D", f"{largest} D", value="f32")
    assert result.tokens("val") == tokens(f"{0x7F80_0000} D")
    assert not result.error


def test_waits_for_every_operand():
    result = alu("add", Offer(tokens("1 2 S0 D"), [0, 7]), Offer(tokens("1 2 S0 D"), [3]))
    assert result.pops["val"] == timed("2@5 4@9 S0@10 D@11")
    late = Offer(tokens("5 6 S0 D"), [2, 2, 9])
    result = alu("select", "0 1 S0 D", "3 4 S0 D", late)
    assert result.pops["val"] == timed("5@4 4@5 S0@11 D@12")


@pytest.mark.parametrize(
    ("op", "immediates", "operand", "expected"),
    [
        ("mul", {"b": -0.5}, "256 N S0 D", "65408@4 0@5 S0@6 D@7"),
        # 1 - 0.25 and 1 - 0, in units of 1/256.
        ("sub", {"a": 1}, "64 N S0 D", "192@2 256@3 S0@4 D@5"),
        ("select", {"a": 1, "c": 3}, "5 N S0 D", "5@2 0@3 S0@4 D@5"),
        ("select", {"b": 1, "c": 2}, "5 N S0 D", "256@2 512@3 S0@4 D@5"),
    ],
)
def test_immediates(op, immediates, operand, expected):
    assert alu(op, operand, value="fixed<16,8>", immediates=immediates).pops["val"] == timed(expected)


@pytest.mark.parametrize(
    ("op", "operands", "value", "to", "expected"),
    [
        # -128 * -128, which i8 cannot hold, in the time that i32 takes.
        ("mul", ["128 N S0 D", "128 1 S0 D"], "i8", "i32", "16384@4 0@5 S0@6 D@7"),
        ("add", ["127 D", "127 D"], "i8", "i16", "254@2 D@3"),
        ("sub", ["32768 D", "32767 D"], "i16", "i32", "4294901761@2 D@3"),
        # (1 + 2^-7)^2, exactly, in the time that f32 takes.
        ("mul", ["16257 S0 D", "16257 S0 D"], "bf16", "f32", "1065484800@6 S0@7 D@8"),
        # 2.5 to the nearest even integer; stops keep their levels.
        ("convert", ["1075838976 S0 S1:1 D"], "f32", "i8", "2@5 S0@6 S1:1@7 D@8"),
        ("convert", ["3 D"], "i8", "f32", "1077936128@5 D@6"),
        ("convert", ["384 D"], "fixed<16,8>", "bf16", "16320@5 D@6"),
    ],
)
def test_results_of_another_type(op, operands, value, to, expected):
    result = alu(op, *operands, value=value, to=to)
    assert result.pops["val"] == timed(expected)
    assert not result.error


def test_scale():
    # 3 * 5 / 2^1 = 7.5, to the even 8; 1000 * 5 / 2 is too much.
    result = alu("scale", "3 N 1000 S0 D", to="i8", immediates={"b": 5, "c": 1})
    assert result.pops["val"] == timed("8@6 0@7 127@8 S0@9 D@10")
    assert not result.error
    greatest = alu("scale", "1 D", to="i32", immediates={"b": (1 << 31) - 1, "c": 0})
    assert greatest.tokens("val") == tokens(f"{(1 << 31) - 1} D")
    least = alu("scale", f"{(1 << 31) - 1} D", to="i32", immediates={"b": 1 << 30, "c": 62})
    assert least.tokens("val") == tokens("0 D")


def latencies(family: str, **alu: int) -> Arch:
    return Arch(alu={family: alu})


def test_latencies():
    assert alu("add", "1 D", "2 D", arch=latencies("integer", add=5)).pops["val"] == timed("3@5 D@6")
    arch = latencies("integer", mul=3)
    assert alu("mul", "9 D", "2 D", value="i16", arch=arch).pops["val"] == timed("18@3 D@4")
    with pytest.raises(InputError, match=r"'mul' on i32 in Arch\.alu is 3; give at least 4"):
        alu("mul", "9 D", "2 D", arch=arch)
    with pytest.raises(InputError, match=r"'add' on i32 in Arch\.alu is 1"):
        alu("add", "9 D", "2 D", arch=latencies("integer", add=1))
    # Widened operations are timed as those of the wider type, conversions as those of the operand's.
    wide = Arch(alu={"f32": {"mul": 9, "convert": 7}, "integer": {"convert": 8}})
    assert alu("mul", "16256 D", "16256 D", value="bf16", to="f32", arch=wide).pops["val"][0][0] == 9
    assert alu("convert", "0 D", value="f32", to="i32", arch=wide).pops["val"][0][0] == 7


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
        ("select", ["1 D", "1 D", "S0 D"], "i32", Error.PROTOCOL),
        ("select", ["S0 D", "S0 D", "S1 D"], "i32", Error.PROTOCOL),
    ],
)
def test_errors(op, operands, value, error):
    assert alu(op, *operands, value=value, cycles=20).error == error


def test_a_conversion_may_overflow():
    assert alu("convert", "127 D", value="i32", to="i8").error == Error(0)
    assert alu("convert", "128 D", value="i32", to="i8").error == Error.OVERFLOW


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"op": "frobnicate"}, "'frobnicate' on i8"),
        ({"op": "scale", "to": "i8", "immediates": {"b": 1, "c": 1}}, "'scale' on i8"),
        ({"op": "neg", "immediates": {"b": 1}}, r"'neg' on i8 has no operand 'b'; it has \['a'\]"),
        ({"op": "neg", "immediates": {"a": 1}}, "All operands of 'neg' are immediates"),
        ({"op": "add", "immediates": {"b": 200}}, "b of 'add' is 200, which i8 cannot hold"),
        (
            {"op": "scale", "value": "i32", "immediates": {"b": 1, "c": 63}},
            "c of 'scale' is 63; give 0 to 62",
        ),
        ({"op": "scale", "value": "i32", "immediates": {"b": -1, "c": 3}}, "b of 'scale' is -1"),
        ({"op": "add", "arch": latencies("integer", sub=2)}, r"Arch\.alu has no latency for 'add'"),
    ],
)
def test_parameters_that_cannot_be(parameters, message):
    with pytest.raises(InputError, match=message):
        alu(**{"value": "i8", **parameters})
