"""The nonlinear functions: error bounds, special values, and tables that never change unnoticed."""

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

from samhw.numerics.exponential import exp2_table
from samhw.numerics.float import Float
from samhw.numerics.float_format import FloatFormat
from samhw.numerics.gaussian import tail_table
from samhw.numerics.hyperbolic import tanh_table
from samhw.numerics.logarithm import log_table
from samhw.numerics.piecewise import Piecewise
from samhw.numerics.reciprocal import reciprocal_table, root_table
from tests.support.accuracy import REFERENCES, sweep, worst
from tests.support.words import BF16, F32, TYPES, specials

TABLES = [exp2_table, reciprocal_table, root_table, log_table, tanh_table, tail_table]


@pytest.mark.parametrize("op", REFERENCES)
def test_every_bf16_is_next_to_the_exact_result(op: str) -> None:
    found = worst(BF16, op, sweep(BF16, 1 << 16))
    assert found.ulp < 0.55, found


@pytest.mark.parametrize("op", REFERENCES)
def test_f32_is_next_to_the_exact_result(op: str) -> None:
    bound = 0.85 if op == "gelu" else 0.63
    found = worst(F32, op, [specials(F32), *sweep(F32, 1 << 18)])
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


def test_tables_are_what_they_were() -> None:
    """Every bit of a table is part of a definition that hardware follows: a change must be meant."""
    digest = hashlib.sha256()
    for kind in TYPES:
        for table in TABLES:
            for column in table(kind.format).columns:
                digest.update(column.astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "4c3f47405520d764"


@pytest.mark.parametrize("table", TABLES)
def test_tables_fit_the_hardware(table: Callable[[FloatFormat], Piecewise]) -> None:
    assert table(F32.format).bits <= 64 * 1024
    assert table(BF16.format).bits <= 4 * 1024
