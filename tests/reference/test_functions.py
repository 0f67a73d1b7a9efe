"""How far functions move: the bounds against the extremes that are found between the ends of an argument."""

import math

import ml_dtypes
import numpy as np
import pytest

from samhw.lang import parse
from samhw.lang.reference import Rounding, bounds
from samhw.lang.reference.plain_values import VALUES
from tests.support.brute import FUNCTIONS

DOMAINS = {"log": 0.5, "sqrt": 0.5, "rsqrt": 0.5, "reciprocal": 0.5}
"""Where a function begins that does not go down to -4."""

UNARY = sorted({*FUNCTIONS} - {"leaky_relu", "max", "min", "lt", "le", "eq", "select"})


def moves(name: str, x: float, error: float) -> float:
    """The most that a function, as plain Python computes it, differs from its value within an interval."""
    function = FUNCTIONS[name]
    middle = function(x)
    return max(abs(function(float(p)) - middle) for p in np.linspace(x - error, x + error, 101))


def bound_of(text: str, arrays: dict[str, np.ndarray], errors: dict[str, np.ndarray]) -> np.ndarray:
    declared = "".join(f"tensor {name}[i]\n" for name in arrays)
    statement = parse(f"{declared}y[i] = {text}").statements[0]
    return bounds(statement, arrays, errors, {"i": len(arrays["a"])}, Rounding(0, 0))


@pytest.mark.nightly(but=16)
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("error", [1e-3, 0.1, 0.4])
def test_a_bound_is_the_greatest_move(name: str, error: float) -> None:
    x = np.linspace(DOMAINS.get(name, -4), 4, 161)
    bound = bound_of(f"{name}(a[i])", {"a": x}, {"a": np.full(len(x), error)})
    found = np.array([moves(name, float(value), error) for value in x])
    assert np.all(found <= bound * (1 + 1e-12) + 1e-15)
    # And somewhere it is reached.
    assert np.any((found > 0) & (found > 0.97 * bound))


@pytest.mark.parametrize("text", ["max(a[i], b[i])", "min(a[i], b[i])", "leaky_relu(a[i], 0.25)"])
def test_two_arguments(text: str) -> None:
    rng = np.random.default_rng(0)
    name = text.partition("(")[0]
    arrays = {"a": rng.uniform(-2, 2, 200), "b": rng.uniform(-2, 2, 200)}
    errors = {"a": rng.uniform(0, 1, 200), "b": rng.uniform(0, 1, 200)}
    if name == "leaky_relu":
        del arrays["b"], errors["b"]
    bound = bound_of(text, arrays, errors)
    second = (arrays["b"], errors["b"]) if "b" in arrays else (np.full(200, 0.25), np.zeros(200))
    function = FUNCTIONS[name]
    steps = np.linspace(-1, 1, 21)
    found = np.array(
        [
            max(abs(function(x + e * s, y + f * t) - function(x, y)) for s in steps for t in steps)
            for x, e, y, f in zip(arrays["a"], errors["a"], *second, strict=True)
        ]
    )
    assert np.all(found <= bound + 1e-12)
    assert np.any((found > 0) & (found > 0.97 * bound))


def test_slopes_where_they_are_greatest() -> None:
    """Those of gelu and silu are written as numbers: their derivatives, in plain Python, on a fine grid."""
    for name in ("gelu", "silu", "abs", "sin", "cos"):
        function = FUNCTIONS[name]
        grid = np.linspace(-6, 6, 24_001)
        slope = max(abs(function(float(x) + 1e-5) - function(float(x) - 1e-5)) / 2e-5 for x in grid)
        (bound,) = bound_of(f"{name}(a[i])", {"a": np.array([0.5])}, {"a": np.array([1.0])})
        assert slope <= bound * (1 + 1e-9)
        assert math.isclose(slope, bound, rel_tol=2e-3)


@pytest.mark.parametrize(
    ("function", "dtype"), [("f8e4m3", ml_dtypes.float8_e4m3fn), ("f8e5m2", ml_dtypes.float8_e5m2)]
)
def test_numbers_of_eight_bits(function: str, dtype: type) -> None:
    """Of all of bf16's, among which are the types' own numbers and the ties between them."""
    x = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        wanted = x.astype(dtype).astype(np.float64)
        np.testing.assert_array_equal(VALUES.call(function, [x.astype(np.float64)]), wanted)
