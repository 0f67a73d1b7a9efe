"""The nonlinear functions: error bounds, special values, and tables that never change unnoticed."""

import hashlib
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from samhw.graph.numerics.circular import circle_table, linear_below, window_table
from samhw.graph.numerics.exponential import exp2_table, tanh_table
from samhw.graph.numerics.float import Float
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.gaussian import tail_table
from samhw.graph.numerics.logarithm import log_table
from samhw.graph.numerics.piecewise import PI, Piecewise, working
from samhw.graph.numerics.reciprocal import reciprocal_table, root_table
from tests.support.accuracy import REFERENCES, sweep, worst
from tests.support.words import BF16, F16, F32, TYPES, angles, specials

TABLES = [exp2_table, reciprocal_table, root_table, log_table, tanh_table, tail_table, circle_table]
TWO_OVER_PI = 2 / Fraction(PI)


@pytest.mark.parametrize("op", REFERENCES)
def test_every_bf16_is_next_to_the_exact_result(op: str) -> None:
    found = worst(BF16, op, sweep(BF16, 1 << 16))
    assert found.ulp < 0.55, found


@pytest.mark.parametrize("op", REFERENCES)
def test_functions_of_every_f16_are_those_of_float64_but_next_to_a_tie(op: str) -> None:
    words = np.arange(1 << 16)
    with np.errstate(all="ignore"):
        exact = REFERENCES[op](F16.decode(words))
        ends = [F16.encode(exact * factor) for factor in (1 - 2.0**-23, 1, 1 + 2.0**-23)]
        zero = F16.is_zero(words)
    found = F16.apply(op, words)
    assert (np.any([found == end for end in ends], axis=0) | zero).all()


@pytest.mark.parametrize("op", REFERENCES)
def test_f32_is_next_to_the_exact_result(op: str) -> None:
    bound = 0.85 if op == "gelu" else 0.63
    found = worst(F32, op, [specials(F32), angles(F32), *sweep(F32, 1 << 18)])
    assert found.ulp < bound, found


@pytest.mark.parametrize(("op", "powers"), [("reciprocal", 1), ("rsqrt", 2)])
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_powers_are_exact(kind: Float, op: str, powers: int) -> None:
    exponents = np.arange(-126, 127, powers)
    result = kind.decode(kind.apply(op, kind.encode(np.ldexp(1.0, exponents))))
    assert np.array_equal(result, np.ldexp(1.0, -exponents // powers))


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_special_values(kind: Float) -> None:
    inf, nan = np.inf, np.nan
    expected: dict[str, list[float | None]] = {
        "exp": [1, 1, inf, 0, nan, inf, 0],
        "log": [-inf, -inf, inf, nan, nan, None, nan],
        "reciprocal": [inf, -inf, 0, -0.0, nan, 0, -0.0],
        "rsqrt": [inf, -inf, 0, nan, nan, None, nan],
        "sqrt": [0, -0.0, inf, nan, nan, None, nan],
        "sigmoid": [0.5, 0.5, 1, 0, nan, 1, 0],
        "tanh": [0, -0.0, 1, -1, nan, 1, -1],
        "silu": [0, -0.0, inf, -0.0, nan, None, -0.0],
        "gelu": [0, -0.0, inf, -0.0, nan, None, -0.0],
        "sin": [0, -0.0, nan, nan, nan, None, None],
        "cos": [1, 1, nan, nan, nan, None, None],
        "rint": [0, -0.0, inf, -inf, nan, None, None],
        "f8e4m3": [0, -0.0, nan, nan, nan, nan, nan],
        "f8e5m2": [0, -0.0, inf, -inf, nan, inf, -inf],
    }
    inputs = kind.encode([0.0, -0.0, inf, -inf, nan, 3e38, -3e38])
    for op, values in expected.items():
        for word, value in zip(kind.apply(op, inputs).tolist(), values, strict=True):
            assert value is None or word == kind.encode(value), f"{op} gives {word:x}, not {value}"


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_values_that_users_look_at(kind: Float) -> None:
    one = kind.encode([1.0])
    assert kind.decode(kind.apply("log", one)) == 0
    for op in ("tanh", "silu", "gelu"):
        tiny = kind.encode([1e-30, -1e-30])
        slope = 1.0 if op == "tanh" else 0.5
        assert np.array_equal(kind.decode(kind.apply(op, tiny)), slope * kind.decode(tiny))
    great = kind.encode([20.0, 1e6])
    assert np.array_equal(kind.apply("gelu", great), great)
    assert kind.decode(kind.apply("tanh", great)).tolist() == [1, 1]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_bounded(kind: Float) -> None:
    for words in sweep(kind, 1 << 18):
        numbers = words[~np.isnan(kind.decode(words))]
        assert np.abs(kind.decode(kind.apply("tanh", numbers))).max() == 1
        sigmoid = kind.decode(kind.apply("sigmoid", numbers))
        assert sigmoid.min() >= 0
        assert sigmoid.max() == 1


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_symmetry_and_range_of_angles(kind: Float) -> None:
    for words in (angles(kind), *sweep(kind, 1 << 18)):
        numbers = words[np.isfinite(kind.decode(words))]
        sine, cosine = (kind.apply(op, numbers) for op in ("sin", "cos"))
        assert np.array_equal(kind.apply("sin", numbers ^ kind.format.sign), sine ^ kind.format.sign)
        assert np.array_equal(kind.apply("cos", numbers ^ kind.format.sign), cosine)
        for result in (sine, cosine):
            assert np.abs(kind.decode(result)).max() <= 1


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_no_number_is_too_near_to_a_quarter_turn(kind: Float) -> None:
    """The distance keeps its leading one in its upper half, and so its precision: for every significand."""
    f = kind.format
    part = working(f)
    nearest = min(
        nearest_multiple(Fraction(2) ** (exponent - f.mantissa) * TWO_OVER_PI, 2 * f.hidden)
        for exponent in range(-1, f.bias + 1)
    )
    # Below 1/2 the number itself is the distance.
    nearest = min(nearest, Fraction(2) ** linear_below(f) * TWO_OVER_PI)
    # Three units may be lost: of the window, of the product, and where the distance is inverted.
    assert nearest > Fraction(1, 1 << part + 1) + Fraction(3, 1 << 2 * part)


def nearest_multiple(step: Fraction, count: int) -> Fraction:
    """The least distance of step, 2 * step, ..., (count - 1) * step from a whole number. It is that of the
    last denominator below `count` among the convergents of its continued fraction."""
    before, denominator, rest = 0, 1, step - math.floor(step)
    found = min(rest, 1 - rest)
    while rest:
        whole = math.floor(1 / rest)
        before, denominator = denominator, whole * denominator + before
        rest = 1 / rest - whole
        if denominator >= count:
            break
        found = abs(denominator * step - round(denominator * step))
    return found


def test_nearest_multiple() -> None:
    for step in (Fraction(355, 1130), Fraction(2, 7), Fraction(1618034, 1000000)):
        products = [n * step for n in range(1, 100)]
        exact = min(abs(product - round(product)) for product in products if product.denominator > 1)
        assert nearest_multiple(step, 100) in (exact, 0)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_windows_are_bits_of_two_over_pi(kind: Float) -> None:
    """Each is the one before, a bit further on."""
    f = kind.format
    high, middle, low = (column.astype(object) for column in window_table(f))
    part = working(f)
    whole = (high << 2 * part) + (middle << part) + low
    width = 2 * part + f.mantissa + 3
    assert all(2 * a % (1 << width) == b & ~1 for a, b in pairwise(whole))
    assert abs(Fraction(int(whole[0]), 1 << linear_below(f) + 2 * part + 1) - TWO_OVER_PI) < 2**-14


def test_tables_are_what_they_were() -> None:
    """Every bit of a table is part of a definition that hardware follows: a change must be meant."""
    digest = hashlib.sha256()
    for kind in TYPES:
        for table in TABLES:
            for column in table(kind.format).columns:
                digest.update(column.astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "30733030f398e23a"


@pytest.mark.parametrize("table", TABLES)
def test_tables_fit_the_hardware(table: Callable[[FloatFormat], Piecewise]) -> None:
    assert table(F32.format).bits <= 64 * 1024
    assert table(BF16.format).bits <= 4 * 1024
