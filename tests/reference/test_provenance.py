"""Differences of running maxima: exact where both are one element, however uncertain that element is."""

from itertools import pairwise

import numpy as np
import pytest

from samhw.graph.numerics import Fixed, ValueType
from samhw.lang import parse
from samhw.lang.reference import Rounding, evaluate_with_bounds
from tests.reference.test_running import KINDS, check

INF, NAN = np.inf, np.nan


def text(op: str, mask: str = "") -> str:
    """The factors by which a rescaled sum is rescaled, of scores that have an error."""
    return (
        "tensor A[i, j]\ntensor B[i, j]\ntensor C[i, j]\ntensor M[i, j]\n"
        "S[i, j] = A[i, j] * B[i, j] + C[i, j]\n"
        f"now[i, j] = cum{op}(j, S[i, j]){mask}\nbefore[i, j] = cum{op}(j, S[i, j], exclusive){mask}\n"
        "step[i, j] = before[i, j] - now[i, j]\nfactor[i, j] = exp(before[i, j] - now[i, j])\n"
        "x[i, j] = M[i, j] * B[i, j]\nl[i] = recur(j, factor[i, j], x[i, j])\n"
    )


def scores(kind: ValueType, rng: np.random.Generator, numbers: str) -> list[np.ndarray]:
    """The words of A, B and C whose scores lie so close together that rounding decides between some."""
    a, b = (kind.decode(kind.encode(rng.uniform(1, 2, (12, 24)))).astype(float) for _ in "AB")
    c = rng.choice([0.25, 0.5], a.shape) - a * b
    if numbers == "special":
        a = np.where(rng.random(a.shape) < 0.1, rng.choice([INF, -INF, NAN], a.shape), a)
    return [kind.encode(array) for array in (a, b, c)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("numbers", ["usual", "special"])
@pytest.mark.parametrize("mask", ["", " where M[i, j]"])
def test_no_result_is_further_off_than_the_bound(kind: ValueType, op: str, numbers: str, mask: str) -> None:
    if numbers == "special" and isinstance(kind, Fixed):
        pytest.skip("it has no such numbers")
    rng = np.random.default_rng(len(mask) + len(op))
    words = scores(kind, rng, numbers)
    is_there = rng.random(words[0].shape) < 0.6
    given = {name: kind.decode(array).astype(float) for name, array in zip("ABC", words, strict=True)}
    found = evaluate_with_bounds(parse(text(op, mask)), {**given, "M": is_there * 1.0}, KINDS[kind])
    multiply, add, subtract, best = (kind.scalar(name) for name in ("mul", "add", "sub", op))
    has_exp = "exp" in kind.operations
    steps, factors = np.zeros(is_there.shape), np.zeros(is_there.shape)
    for i, row in enumerate(zip(*(array.tolist() for array in words), strict=True)):
        sums = [add(multiply(x, y), z) for x, y, z in zip(*row, strict=True)]
        places = np.flatnonzero(is_there[i]) if mask else np.arange(is_there.shape[1])
        now: list[int] = []
        for place in places:
            now.append(best(now[-1], sums[place]) if now else sums[place])
        for place, (earlier, later) in zip(places, pairwise([0, *now]), strict=True):
            step = subtract(earlier, later)
            steps[i, place] = kind.decode(np.array([step]))[0]
            if has_exp:
                factors[i, place] = kind.decode(np.array([kind.scalar("exp")(step)]))[0]
    wanted = is_there | (not mask)
    for name, made in (("step", steps), *([("factor", factors)] if has_exp else [])):
        value, bound, is_open = (part[wanted] for part in found[name])
        check(value, bound, is_open, made[wanted])


@pytest.mark.parametrize(("op", "way"), [("max", -1), ("min", 1)])
def test_the_bound_of_a_rescaled_sum_follows_the_rescalings_and_not_the_row(op: str, way: int) -> None:
    rounding = Rounding.floating(23)
    widths = []
    for changes in (1, 8, 64):
        # As many new extremes, then none.
        rows = np.concatenate([np.linspace(-1, 0, changes), np.full(1000 - changes, -2.0)])
        given = {"A": -way * rows[None], "B": np.ones((1, 1000))}
        given["C"], given["M"] = np.zeros((2, 1, 1000))
        given["M"][0, 0] = 1
        found = evaluate_with_bounds(parse(text(op)), given, rounding)
        factor, total = found["factor"], found["l"]
        assert (factor.bound[0, changes:] == 0).all()
        assert (factor.value[0, changes:] == 1).all()
        widths.append(float(factor.bound[0, 1:].sum()))
        assert total.bound[0] > 0
    assert widths[0] == 0
    assert 6 < widths[2] / widths[1] < 12


def test_an_infinity_minus_itself_is_none() -> None:
    given = {"A": np.array([[1.0, INF, 2, 3]]), "B": np.ones((1, 4)), "C": np.zeros((1, 4))}
    given["M"] = np.ones((1, 4))
    step = evaluate_with_bounds(parse(text("max")), given, Rounding.floating(23))["step"]
    assert np.isnan(step.value[0, 2:]).all()
    assert step.value[0, 1] == -INF


def test_one_name_for_different_elements_is_not_taken_for_one() -> None:
    """Running maxima of other elements, or under another mask, are other numbers."""
    lines = "tensor A[j]\ntensor B[j]\nS[j] = A[j] * B[j]\nT[j] = B[j] * A[j]\nm[j] = cummax(j, S[j])\n"
    lines += "n[j] = cummax(j, T[j])\nd[j] = exp(m[j] - n[j])\n"
    given = {"A": np.array([3.0, 1, 1]), "B": np.ones(3)}
    assert (evaluate_with_bounds(parse(lines), given, Rounding.floating(23))["d"].bound > 0).all()


def test_elements_of_different_rows_are_different() -> None:
    """A matrix less its transpose is zero on the diagonal alone."""
    lines = "tensor A[i, j]\nm[i, j] = cummax(j, A[i, j])\nd[i, j] = m[i, j] - m[j, i]\n"
    given = np.array([[5.0, 0, 0], [3, 0, 0], [1, 0, 2]])
    m = np.maximum.accumulate(given, 1)
    found = evaluate_with_bounds(parse(lines), {"A": given}, Rounding.floating(23))["d"]
    np.testing.assert_array_equal(found.value, m - m.T)


@pytest.mark.parametrize("result", ["l", "h[j]"])
def test_a_factor_that_may_be_another_number_than_one_rounds(result: str) -> None:
    lines = "tensor A[j]\ntensor B[j]\ntensor x[j]\ntensor one[j]\nF[j] = A[j] * B[j]\n"
    other = {"l": "m", "h[j]": "k[j]"}[result]
    lines += f"{result} = recur(j, F[j], x[j])\n{other} = recur(j, one[j], x[j])\n"
    given = {name: np.ones(100) for name in ("A", "B", "one")}
    found = evaluate_with_bounds(parse(lines), {**given, "x": np.arange(100) == 0}, Rounding.floating(23))
    uncertain, certain = (found[name[0]].bound.max() for name in (result, other))
    # A rounding of each factor and each product, and an addition.
    assert uncertain > 2.5 * certain if result == "h[j]" else uncertain > 1.5 * 99 * 2**-24
