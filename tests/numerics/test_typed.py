"""Operations from one type into another: widened arithmetic and `scale`, against exact arithmetic."""

from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.graph.numerics import (
    OVERFLOW,
    SCALE_MULTIPLIERS,
    SCALE_SHIFTS,
    WIDENING,
    Fixed,
    Float,
    Integer,
    ValueType,
    operation,
)
from tests.support.words import BF16, F8E4M3, F8E5M2, F32, flush, pairs, product, random_pairs, specials

I8, I16, I32 = Integer(8), Integer(16), Integer(32)
EXACT = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b}
NUMPY: dict[str, Callable[..., np.ndarray]] = {"add": np.add, "sub": np.subtract, "mul": product}


@pytest.mark.parametrize("op", WIDENING)
def test_every_pair_of_i8_widens(op: str) -> None:
    a, b = np.divmod(np.arange(1 << 16), 256)
    want = EXACT[op](I8.decode(a), I8.decode(b))
    assert np.array_equal(I32.decode(operation(op, I8, I32).apply(a, b)), want)


@pytest.mark.parametrize("op", WIDENING)
@given(st.integers(-(1 << 15), (1 << 15) - 1), st.integers(-(1 << 15), (1 << 15) - 1))
@example(-(1 << 15), -(1 << 15))
@example(-(1 << 15), (1 << 15) - 1)
def test_i16_widens(op: str, a: int, b: int) -> None:
    widened = operation(op, I16, I32)
    words = [int(I16.encode(x)) for x in (a, b)]
    assert widened.scalar()(*words) == EXACT[op](a, b) % (1 << 32) == int(widened.apply(*words))


@pytest.mark.parametrize("op", WIDENING)
def test_bf16_widens(op: str) -> None:
    """As NumPy in float32 on what ml_dtypes widens."""
    for a, b in (pairs(specials(BF16)), *random_pairs(BF16, 1 << 17)):
        wide = [flush(BF16, x).astype(np.uint16).view(ml_dtypes.bfloat16).astype(np.float32) for x in (a, b)]
        with np.errstate(all="ignore"):
            want = NUMPY[op](*wide).view(np.uint32).astype(np.int64)
        assert np.array_equal(operation(op, BF16, F32).apply(a, b), flush(F32, want))


def scaled(a: int, m: int, s: int, target: Integer) -> int:
    # Python rounds fractions half to even.
    rounded = round(Fraction(a * m, 1 << s))
    return min(max(rounded, target.lowest), target.highest) % (1 << target.width)


@given(
    st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(-300, 300),
    st.integers(0, (1 << 31) - 1) | st.integers(0, 9),
    st.integers(0, 62) | st.integers(0, 3),
    st.sampled_from([I8, I16, I32]),
)
@example(-(1 << 31), (1 << 31) - 1, 62, I8)
@example((1 << 31) - 1, (1 << 31) - 1, 0, I32)
@example(-3, 1, 1, I16)
@example(-(1 << 31), 1 << 30, 62, I8)  # -1/2
def test_scale(a: int, m: int, s: int, target: Integer) -> None:
    want = scaled(a, m, s, target)
    word = a % (1 << 32)
    scale = operation("scale", I32, target)
    assert scale.scalar()(word, m, s) == want
    assert scale.scalar({1: m, 2: s})(word) == want
    assert scale.apply(np.array([word]), np.array([m]), np.array([s])).tolist() == [want]


def test_what_scale_takes() -> None:
    assert (SCALE_MULTIPLIERS[0], SCALE_MULTIPLIERS[-1]) == (0, 2**31 - 1)
    assert (SCALE_SHIFTS[0], SCALE_SHIFTS[-1]) == (0, 62)


def test_convert_is_an_operation() -> None:
    to_byte = operation("convert", F32, I8)
    assert to_byte.apply(F32.encode([2.5, -128.5, 128])).tolist() == [2, 128, OVERFLOW]
    assert [to_byte.scalar()(int(word)) for word in F32.encode([2.5, 128])] == [2, OVERFLOW]
    assert to_byte.arity == 1


def test_within_a_type() -> None:
    assert operation("exp", F32).scalar() is F32.scalar("exp")
    assert operation("select", I8, I8).arity == 3


@pytest.mark.parametrize(
    ("op", "source", "target", "message"),
    [
        ("mul", I8, I16, "'mul' of i8 cannot give i16; only add, sub, mul go to another type"),
        ("mul", I32, I8, "'mul' of i32 cannot give i8"),
        ("mul", F32, BF16, "'mul' of f32 cannot give bf16"),
        ("mul", Fixed(16, 8), Fixed(32, 16), "cannot give fixed<32,16>"),
        ("max", I8, I32, "'max' of i8 cannot give i32"),
        ("div", BF16, F32, "'div' of bf16 cannot give f32"),
        ("mul", F8E4M3, F8E5M2, "'mul' of f8e4m3 cannot give f8e5m2"),
        ("scale", I16, I8, "'scale' goes from i32 to an integer, not from i16 to i8"),
        ("scale", I32, F32, "'scale' goes from i32 to an integer, not from i32 to f32"),
        ("exp", I8, I8, "i8 has no operation 'exp'"),
        ("atan", F32, F32, "f32 has no operation 'atan'"),
    ],
)
def test_what_there_is_not(op: str, source: ValueType, target: ValueType, message: str) -> None:
    with pytest.raises(InputError, match=message):
        operation(op, source, target)


@pytest.mark.parametrize(
    ("kind", "zeros", "others"),
    [
        (I8, [0], [1, 128, 255]),
        (Fixed(16, 8), [0], [1, 0x8000]),
        (BF16, [0, 0x8000, 0x007F, 0x8001], [0x0080, 0x8080, 0x7F80, 0x7FC0]),
        (F32, [0, 0x80000000, 0x007FFFFF], [0x00800000, 0x7F800000, 0x7FC00000]),
    ],
    ids=str,
)
def test_zeros(kind: ValueType, zeros: list[int], others: list[int]) -> None:
    assert kind.is_zero(zeros).all()
    assert not kind.is_zero(others).any()


@pytest.mark.parametrize("kind", [BF16, F32], ids=str)
def test_unit_roundoff_is_the_greatest_error_of_one_operation(kind: Float) -> None:
    one = kind.encode([1.0])
    beside_one = kind.decode(one + 1) - 1
    assert kind.unit_roundoff == beside_one[0] / 2
    assert I32.unit_roundoff == 0
