"""Bounds where infinities and NaN come up: what is the same in every order, and what is open."""

import numpy as np
import pytest

from samhw.lang import parse
from samhw.lang.reference import Bounded, Rounding, evaluate_with_bounds
from samhw.tensors import Tensor

INF, NAN = np.inf, np.nan
F32 = Rounding.floating(23)


def bounded(text: str, **arrays: object) -> Bounded:
    """The last result of a program of f32."""
    ranks = {name: np.asarray(array, np.float32).astype(float) for name, array in arrays.items()}
    found = evaluate_with_bounds(parse(text), ranks, F32)
    return list(found.values())[-1]


def outer(*d: float) -> Bounded:
    text = "tensor b[i]\ntensor c[i, l]\ntensor d[i, l]\ny[i] = b[i] * c[i, l] * d[i, l]"
    return bounded(text, b=[INF], c=[[1.0] * len(d)], d=[d])


def test_a_factor_that_may_stay_outside_of_the_sum() -> None:
    # inf * (1 - 1) is zero, and inf - inf is NaN.
    value, bound, is_open = outer(1, -1)
    assert is_open.all()
    assert abs(value[0]) <= bound[0] < 1e-30


def test_terms_of_one_sign_leave_an_infinity() -> None:
    for signs, expected in ((1, 2), INF), ((-1, -2), -INF), ((0, 2), INF):
        value, bound, is_open = outer(*signs)
        assert (value[0], bound[0], is_open[0]) == (expected, 0, False)


def test_zero_times_infinity_is_zero() -> None:
    value, bound, is_open = outer(0, 0)
    assert (value[0], bound[0], is_open[0]) == (0, 0, False)


PRODUCT = "tensor A[i, k]\ntensor x[k]\ny[i] = A[i, k] * x[k]"


@pytest.mark.parametrize(
    ("row", "x", "expected"),
    [
        # Nothing is summed before it is multiplied by what has all indices of the sum.
        ([INF, -INF], [1, 1], NAN),
        ([NAN, NAN], [1, -1], NAN),
        ([NAN, INF], [1, -1], NAN),
        ([INF, -3], [1, 1], INF),
        ([1, 2], [-INF, 1], -INF),
        ([1, -2], [INF, INF], NAN),
        ([0, 2], [NAN, 1], 2),
        ([3e38, 3e38], [1, 1], INF),
        ([3e38, -1], [-2, 0], -INF),
    ],
)
def test_what_is_the_same_in_every_order(row: list[float], x: list[float], expected: float) -> None:
    value, bound, is_open = bounded(PRODUCT, A=[row], x=x)
    np.testing.assert_equal(value, [expected])
    assert not is_open.any()
    assert bound[0] < 1e-3


@pytest.mark.parametrize(
    ("text", "arrays", "rest"),
    [
        # A sum of both signs on the way may be too great, or not.
        ("tensor a[i]\ny = a[i]", {"a": [3e38, 3e38, -3e38]}, 3e38),
        ("tensor a\ntensor b\ny = a * a * b", {"a": 1e30, "b": 1e-30}, 1e30),
        # A product on the way may be zero.
        ("tensor a\ntensor b\ny = a * b * b", {"a": INF, "b": 1e-30}, 0),
        # x is multiplied by what is left of a column.
        ("tensor A[i, k]\ntensor x[k]\nT[i] = A[i, k] * x[k]\ny = T[i]", {"A": [[1], [-1]], "x": [INF]}, 0),
        # Where both have nothing to say, there is no number.
        ("tensor a\ntensor b\nz = a - b\ny = 1 / z", {"a": 1, "b": 1}, None),
        ("tensor a\nz = 0 * a\ny = reciprocal(z)", {"a": 1}, INF),
        ("tensor a\nz = 0 * a\ny = 1 / z", {"a": 1}, INF),
    ],
)
def test_what_the_order_decides(text: str, arrays: dict[str, object], rest: float | None) -> None:
    value, bound, is_open = bounded(text, **arrays)
    assert is_open.all()
    if rest is None:
        assert bound == INF
    else:
        np.testing.assert_allclose(value, rest, rtol=1e-6, atol=1e-30)


def test_functions_of_what_is_no_number() -> None:
    texts: dict[str, list[float]] = {
        "exp(a[i])": [INF, 0, NAN],
        "relu(a[i])": [INF, 0, NAN],
        "max(a[i], b[i])": [INF, 1 / 3, NAN],
        "min(a[i], b[i])": [1 / 3, -INF, NAN],
        "leaky_relu(a[i], 0.01)": [INF, -INF, NAN],
        "lt(a[i], b[i])": [0, 1, 0],
        # NaN is not zero.
        "select(a[i], b[i], 2)": [1 / 3, 1 / 3, 1 / 3],
        "1 / a[i]": [0, 0, NAN],
        "0 / a[i]": [0, 0, 0],
        "a[i] - a[i]": [NAN, NAN, NAN],
    }
    for text, expected in texts.items():
        text = f"tensor a[i]\ntensor c[i]\nb[i] = c[i] / 3\nunused = a[i] * b[i]\ny[i] = {text}"
        value, bound, is_open = bounded(text, a=[INF, -INF, NAN], c=[1, 1, 1])
        np.testing.assert_allclose(value, expected, rtol=1e-7)
        assert not is_open.any(), text
        assert np.all(bound < 1e-6), text


def test_a_maximum_with_nan_is_nan() -> None:
    text = "tensor A[i, j]\ntensor M[i, j]\nm[i] max= A[i, j] where M[i, j]"
    value, _, is_open = bounded(text, A=[[NAN, INF], [NAN, 1], [-INF, -INF]], M=[[1, 1], [0, 1], [1, 1]])
    np.testing.assert_equal(value, [NAN, 1, -INF])
    assert not is_open.any()


def test_a_softmax_with_minus_infinity_is_determined() -> None:
    text = """
        tensor S[i, j]
        m[i] max= S[i, j]
        E[i, j] = exp(S[i, j] - m[i])
        l[i] = E[i, j]
        P[i, j] = E[i, j] / l[i]
    """
    value, bound, is_open = bounded(text, S=[[1, -INF, 2], [0, 0, -INF]])
    np.testing.assert_allclose(value[:, 2], [1 / (1 + np.exp(-1)), 0], rtol=1e-6)
    assert not is_open.any()
    assert np.all(bound < 1e-5)


def test_some_of_a_large_product_is_open() -> None:
    """Piece by piece, as other products."""
    rng = np.random.default_rng(0)
    A = rng.integers(1, 3, (40, 50)) * (rng.random((40, 50)) < 0.2)
    x = np.where(np.arange(50) == 7, INF, 1.0)
    program = parse("tensor A[i, k] : csr\ntensor x[k]\ny[i] = A[i, k] * x[k]")
    value, _, is_open = evaluate_with_bounds(program, {"A": Tensor.from_dense(A, "csr"), "x": x}, F32)["y"]
    np.testing.assert_equal(value, np.where(A[:, 7] > 0, INF, A.sum(1)))
    assert not is_open.any()
