"""top, bottom and their coordinates in the reference: numbers, and bounds that hold."""

import numpy as np
import pytest

from samhw.graph.numerics import Fixed, ValueType
from samhw.lang import parse
from samhw.lang.reference import Points, Rounding, evaluate_program, evaluate_with_bounds, results
from samhw.tensors import Tensor
from tests.reference.test_running import KINDS

INF, NAN = np.inf, np.nan


def in_order(scores: np.ndarray, k: int, greatest: bool) -> tuple[np.ndarray, np.ndarray]:
    """Values and coordinates, row by row; NaN first."""
    values, places = np.zeros((len(scores), k)), np.zeros((len(scores), k), int)
    for row, line in enumerate(scores.tolist()):
        keys = [(x == x, 0 if x != x else -x if greatest else x, j) for j, x in enumerate(line)]
        for rank, (*_, j) in enumerate(sorted(keys)[:k]):
            values[row, rank], places[row, rank] = line[j], j
    return values, places


@pytest.mark.parametrize("storage", ["dense", "csr", "dcsr"])
def test_numbers(storage: str) -> None:
    scores = np.random.default_rng(0).integers(-2, 3, (6, 9)) * np.array([[1, 1, 0, 1, 1, 1]]).T
    text = "tensor S[i, j]\ntensor V[i, r=4]\ntensor P[i, r=4]\ntensor Q[r=4, i]\ntensor W[i, r=4]\n"
    text += "V[i, r] top= S[i, j]\nP[i, r] argtop= S[i, j]\n"
    text += "W[i, r] bottom= S[i, j]\nQ[r, i] argbottom= S[i, j]\n"
    found = evaluate_program(parse(text), {"S": Tensor.from_dense(scores, storage)})
    for names, greatest in (("VP", True), ("WQ", False)):
        values, places = in_order(scores, 4, greatest)
        np.testing.assert_array_equal(found[names[0]], values)
        np.testing.assert_array_equal(found[names[1]].T if names[1] == "Q" else found[names[1]], places)


def test_what_is_no_number_and_what_is_not_there() -> None:
    scores = np.array([[1, NAN, 3, NAN], [-INF, INF, 0, -0.0]])
    mask = np.array([[0, 1, 1, 0], [0, 0, 0, 0]])
    text = "tensor S[i, j]\ntensor M[i, j]\ntensor V[i, r=3]\ntensor P[i, r=3]\n"
    masked = f"{text}V[i, r] top= S[i, j] where M[i, j]\nP[i, r] argtop= S[i, j] where M[i, j]\n"
    plain = f"{text.replace('tensor M[i, j]', '')}V[i, r] top= S[i, j]\nP[i, r] argtop= S[i, j]\n"
    found = evaluate_program(parse(plain), {"S": scores})
    np.testing.assert_array_equal(found["V"], [[NAN, NAN, 3], [INF, 0, 0]])
    np.testing.assert_array_equal(found["P"], [[1, 3, 2], [1, 2, 3]])
    found = evaluate_program(parse(masked), {"S": scores, "M": mask})
    np.testing.assert_array_equal(found["V"], [[NAN, 3, 0], [0, 0, 0]])
    np.testing.assert_array_equal(found["P"], [[1, 2, 0], [0, 0, 0]])


def test_only_what_is_wanted() -> None:
    scores = np.random.default_rng(3).integers(-2, 3, (7, 12))
    program = parse("tensor S[i, j]\ntensor P[r=2, i]\nT[i, j] = S[i, j] + 1\nP[r, i] argtop= T[i, j]\n")
    found = results(program, {"S": scores}, wanted={"P": Points(("0", "1"), np.array([[1, 0], [4, 2]]))})
    places = in_order(scores, 2, True)[1]
    assert [found["P"].to_array()[point] for point in ((1, 4), (0, 2))] == [places[4, 1], places[2, 0]]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_no_result_is_further_off_than_the_bound(kind: ValueType, seed: int) -> None:
    """Products that lie so close that their roundings decide their order."""
    rng = np.random.default_rng(seed)
    a, b = (
        np.array([kind.encode(row) for row in array])
        for array in (1 + rng.random((30, 12)) / 16, 1 + rng.random((1, 12)) / 16)
    )
    text = "tensor S[i, j]\ntensor w[j]\ntensor V[i, r=5]\ntensor P[i, r=5]\n"
    text += "V[i, r] top= S[i, j] * w[j]\nP[i, r] argtop= S[i, j] * w[j]\n"
    found = evaluate_with_bounds(parse(text), {"S": kind.decode(a), "w": kind.decode(b)[0]}, KINDS[kind])
    values, places = in_order(kind.decode(kind.apply("mul", a, np.broadcast_to(b, a.shape))), 5, True)
    for name, expected in (("V", values), ("P", places)):
        value, bound, is_open = found[name]
        assert (np.abs(value - expected) <= bound).all()
        assert not is_open.any()
    assert (found["P"].bound == 0).any() or isinstance(kind, Fixed) or kind.width == 16


def test_what_may_be_anything_is_open() -> None:
    """A product that may leave the range on the way is open. What is surely NaN stands before it."""
    text = "tensor S[i, j]\ntensor B[i, j]\ntensor V[i, r=2]\n"
    text += "T[i, j] = S[i, j] * 1e30 * 1e30 * 1e-30 + B[i, j]\nV[i, r] top= T[i, j]\n"
    given = {"S": np.array([[1.0, 0.0], [0.0, 0.0]]), "B": np.array([[0.0, NAN], [0.0, 0.0]])}
    value, _, is_open = evaluate_with_bounds(parse(text), given, Rounding.floating(23))["V"]
    assert np.isnan(value[0, 0])
    assert is_open.tolist() == [[False, True], [False, False]]


def test_a_mask_that_may_be_zero() -> None:
    text = "tensor S[i, j]\ntensor a[j]\ntensor P[i, r=2]\nm[j] = a[j] * 0.1 - 0.1\n"
    text += "P[i, r] argtop= S[i, j] where m[j]\n"
    given = {"S": np.array([[9.0, 8.0, 7.0]]), "a": np.array([3.0, 1.0, 1.0])}
    value, bound, _ = evaluate_with_bounds(parse(text), given, KINDS[next(iter(KINDS))])["P"]
    assert value[0, 0] == 0
    assert bound[0, 0] == 0
    assert bound[0, 1] >= 2
