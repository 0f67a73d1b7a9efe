"""argmax and argmin: values against NumPy, bounds against the arithmetic of every type."""

import numpy as np
import pytest

from samhw.graph.numerics import Fixed, ValueType
from samhw.lang import parse
from samhw.lang.reference import Points, evaluate_program, evaluate_with_bounds, results
from samhw.tensors import Tensor
from tests.reference.test_running import KINDS

INF, NAN = np.inf, np.nan
TEXT = "tensor S[i, j]\ntensor w[j]\nT[i, j] = S[i, j] * w[j]\np[i] argmax= T[i, j]\nq[i] argmin= T[i, j]\n"


@pytest.mark.parametrize("storage", ["dense", "csr", "dcsr"])
@pytest.mark.parametrize("mask", ["", " where M[i, j]", " where m[i]", " where n[j]"])
def test_values(storage: str, mask: str) -> None:
    rng = np.random.default_rng(len(mask))
    s = rng.integers(-2, 3, (6, 9)) * (rng.random((6, 9)) < 0.6)
    masks = {"M": rng.integers(0, 2, (6, 9)), "m": rng.integers(0, 2, 6), "n": rng.integers(0, 2, 9)}
    masks["M"][1] = 0
    there = {"": np.ones((6, 9)), "M": masks["M"], "m": masks["m"][:, None], "n": masks["n"]}[mask[7:8]]
    there = np.broadcast_to(there != 0, (6, 9))
    text = f"tensor S[i, j] : {storage}\ntensor M[i, j] : csr\ntensor m[i]\ntensor n[j]\n"
    text += "unused[i, j] = M[i, j] * m[i] * n[j]\n"
    text += f"p[i] argmax= S[i, j]{mask}\nq[i] argmin= 1 - S[i, j]{mask}\n"
    found = evaluate_program(parse(text), {"S": Tensor.from_dense(s, storage), **masks})
    expected = np.where(there.any(1), np.where(there, s, -9).argmax(1), 0)
    for name in "pq":
        np.testing.assert_array_equal(found[name], expected)


def test_only_what_is_wanted() -> None:
    s = np.random.default_rng(3).integers(-2, 3, (7, 12))
    program = parse("tensor S[i, j]\nT[i, j] = S[i, j] + 1\np[i] argmax= T[i, j]\n")
    found = results(program, {"S": s}, wanted={"p": Points(("0",), np.array([[4, 2]]))})
    np.testing.assert_array_equal(found["p"].to_array()[[4, 2]], s.argmax(1)[[4, 2]])


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_no_result_is_further_off_than_the_bound(kind: ValueType, seed: int) -> None:
    """Products that lie so close that their roundings decide which one is the greatest."""
    rng = np.random.default_rng(seed)
    scores, weights = 1 + rng.random((30, 12)) / 16, 1 + rng.random(12) / 16
    a, b = (np.array([kind.encode(row) for row in array]) for array in (scores, weights[None]))
    if seed == 3 and not isinstance(kind, Fixed):
        chosen = kind.encode(np.float32([1e30, 3e38])) if kind.width == 32 else a[0, :2]
        a = np.where(rng.random(a.shape) < 0.1, rng.choice(chosen, a.shape), a)
    given = {"S": kind.decode(a), "w": kind.decode(b)[0]}
    found = evaluate_with_bounds(parse(TEXT), given, KINDS[kind])
    products = kind.decode(kind.apply("mul", a, np.broadcast_to(b, a.shape)))
    for name, expected in (("p", products.argmax(1)), ("q", products.argmin(1))):
        value, bound, is_open = found[name]
        assert (np.abs(value - expected) <= bound).all()
        assert not is_open.any()
    assert (found["p"].bound == 0).any() or isinstance(kind, Fixed) or kind.width == 16


def test_what_is_stored_has_no_doubt() -> None:
    scores = np.array([[1, 3, 3, 0], [NAN, 1, NAN, INF], [1, INF, INF, 0], [-INF] * 4])
    program = parse("tensor S[i, j]\np[i] argmax= S[i, j]\n")
    value, bound, is_open = evaluate_with_bounds(program, {"S": scores}, KINDS[next(iter(KINDS))])["p"]
    assert value.tolist() == [1, 0, 1, 0]
    assert not bound.any()
    assert not is_open.any()


def test_a_mask_that_may_be_zero() -> None:
    """What it may leave out does not count for sure, and where it may leave out all, there may be nothing."""
    text = "tensor S[i, j]\ntensor a[j]\nm[j] = a[j] * 0.1 - 0.1\np[i] argmax= S[i, j] where m[j]\n"
    given = {"S": np.array([[9.0, 8.0, 7.0], [7.0, 8.0, 9.0]]), "a": np.array([3.0, 1.0, 1.0])}
    value, bound, _ = evaluate_with_bounds(parse(text), given, KINDS[next(iter(KINDS))])["p"]
    assert value.tolist() == [0, 0]
    assert bound.tolist() == [0, 2]
