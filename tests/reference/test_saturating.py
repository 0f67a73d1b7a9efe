"""Bounds where fixed point saturates: what is the same in every order, and what the order decides."""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.lang import parse
from samhw.lang.reference import Bounded, Rounding, evaluate_with_bounds
from tests.reference.test_values import random_arrays
from tests.support.brute import FixedMachine, run_program
from tests.support.strategies.chains import chained_programs

I8 = Rounding.fixed(8, 0)
"""From -128 to 127."""


def bounded(text: str, rounding: Rounding = I8, **arrays: object) -> Bounded:
    """The last result of a program."""
    found = evaluate_with_bounds(parse(text), {n: np.asarray(a, float) for n, a in arrays.items()}, rounding)
    return list(found.values())[-1]


@given(
    chained_programs(max_extent=4, integers=False),
    st.integers(0, 2**32),
    st.sampled_from([(8, 4), (8, 7), (10, 4), (12, 8), (8, 0)]),
    st.sampled_from([0.25, 1.0, 4.0, 32.0]),
)
def test_no_order_exceeds_the_bound(program, seed, kind, size):
    width, fraction = kind
    rng = random.Random(seed)
    machine = FixedMachine(width, fraction, rng)
    arrays = random_arrays(program, seed, integers=False)
    arrays = {
        name: np.vectorize(machine.number, otypes=[float])(array * size) for name, array in arrays.items()
    }
    found = evaluate_with_bounds(program, arrays, Rounding.fixed(width, fraction))
    computed = run_program(program, arrays, machine)
    for name, (value, bound, is_open) in found.items():
        slack = 1e-12 * (1 + np.abs(value))
        assert np.all(np.abs(computed[name] - value) <= bound + slack), (name, value, bound, computed[name])
        assert not np.any(is_open)


def orders(terms: Sequence[int]) -> Iterator[int]:
    """What eight bits make of a sum, in all orders and brackets."""
    if len(terms) == 1:
        yield terms[0]
    for size in range(1, len(terms)):
        for left in itertools.combinations(range(len(terms)), size):
            right = [terms[n] for n in range(len(terms)) if n not in left]
            for a, b in itertools.product(orders([terms[n] for n in left]), orders(right)):
                yield max(-128, min(a + b, 127))


@pytest.mark.parametrize(
    "terms",
    [
        [100, 100],
        [-100, -100, -28],
        [100, 100, -100],
        [-100, 50, -50, 20],
        [60, 60, -60, -60],
        [127, 1, -1],
        [-128, -1, 1],
        [100, 27, -3],
    ],
)
def test_a_sum_is_what_some_order_gives(terms: list[int]) -> None:
    value, bound, _ = bounded("tensor a[k]\ny = a[k]", a=terms)
    every = set(orders(terms))
    assert bound == max(value - min(every), max(every) - value)


@pytest.mark.parametrize(
    ("text", "arrays", "expected"),
    [
        ("y = a + b", {"a": 100, "b": 100}, (127, 0)),
        ("y = a - b", {"a": -100, "b": 100}, (-128, 0)),
        ("y = -a", {"a": -128}, (127, 0)),
        ("y = abs(a)", {"a": -128}, (127, 0)),
        ("y = a * b", {"a": 100, "b": -2}, (-128, 0)),
        ("y = a * a * b", {"a": 100, "b": 2}, (127, 0)),
        ("y = 1000 * a", {"a": 1}, (127, 0)),
        ("y = a / b", {"a": 3, "b": 0}, (127, 0)),
        ("y = a / b", {"a": -3, "b": 0}, (-128, 0)),
        ("y = a / b", {"a": 0, "b": 0}, (0, 0)),
        ("y = reciprocal(a)", {"a": 0}, (127, 0)),
        ("y = rsqrt(a)", {"a": 0}, (127, 0)),
        ("y = rsqrt(a)", {"a": -1}, (0, 0)),
        ("y = log(a)", {"a": 0}, (-128, 0)),
        ("y = log(a)", {"a": -1}, (0, 0)),
        ("y = sqrt(a)", {"a": -1}, (0, 0)),
        ("y = exp(a)", {"a": 5}, (127, 0)),
        ("y = f8e4m3(a)", {"a": 127}, (127, 0)),
        # The sum is done before it is multiplied.
        ("t = a + b\ny = t * -1", {"a": 100, "b": 100}, (-127, 0)),
        # 127, or the 128 that it would be, is taken away: either may be meant.
        ("t = a + b\ny = c - t", {"a": 100, "b": 28, "c": 0}, (-128, 1)),
        ("t = a + b\ny = max(t, b)", {"a": 100, "b": 100}, (127, 0)),
        ("y = lt(a, b)", {"a": 1, "b": 2}, (1, 0)),
    ],
)
def test_what_the_definition_says(text: str, arrays: dict[str, float], expected: tuple[float, float]) -> None:
    names = "".join(f"tensor {name}\n" for name in arrays)
    value, bound, _ = bounded(names + text, **arrays)
    assert (value, bound) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("text", "a", "expected"),
    [
        ("y[k] = cumsum(k, a[k])", [100, 100, -50], ([100, 127, 127], [0, 0, 50])),
        ("y[k] = cumprod(k, a[k])", [100, -2, 3], ([100, -128, -128], [0, 1, 1])),
        ("y prod= a[k]", [16, 16, 2], (127, 0)),
        ("y max= a[k]", [-128, 127], (127, 0)),
        ("y[k] = recur(k, 2, a[k])", [100, 100, 100], ([100, 127, 127], [0, 0, 0])),
    ],
)
def test_what_goes_on(text: str, a: list[float], expected: Any) -> None:
    value, bound, _ = bounded(f"tensor a[k]\n{text}", a=a)
    np.testing.assert_allclose((value, bound), expected)


def test_a_type_without_a_one() -> None:
    eighths = Rounding.fixed(8, 7)
    greatest = 127 / 128
    for text, expected in (
        ("lt(a, 0.5)", greatest),
        ("select(eq(a, a), a, 0)", 0.25),
        ("1 + a", greatest),
        ("exp(a)", greatest),
    ):
        value, bound, _ = bounded(f"tensor a\ny = {text}", eighths, a=0.25)
        assert (value, bound) == (expected, 0)
    value, bound, _ = bounded(
        "tensor a[k]\ntensor m[k]\ny = a[k] where m[k]", eighths, a=[0.25] * 3, m=[1, 0, 1]
    )
    assert (value, bound) == (0.5, 0)


def test_what_saturates_before_a_factor_below_one() -> None:
    # 30 * 30 saturates at 128, and half of that is 64; 30 * 0.5 * 30 saturates at the end.
    value, bound, _ = bounded("tensor a\ntensor b\ny = a * a * b", Rounding.fixed(16, 8), a=30, b=0.5)
    assert value == 128 - 2**-8
    assert 64 <= bound < 68


def test_long_sums_within_the_range_are_as_exact_as_before() -> None:
    """However many factors above 1 there are."""
    rng = np.random.default_rng(0)
    a, b = rng.choice([-0.25, 0.25, 1.25], 500), rng.choice([-0.5, 0.125], 500)
    text = "tensor a[k]\ntensor b[k]\ntensor s\ny = s * a[k] * b[k]"
    value, bound, _ = bounded(text, Rounding.fixed(16, 8), a=a, b=b, s=0.5)
    assert value == pytest.approx(0.5 * np.dot(a, b))
    assert bound <= 500 * 2 * 2**-9 * 1.25 * 1.01
