"""Running reductions and products: values against NumPy, bounds against the arithmetic of every type."""

import random

import numpy as np
import pytest

from samhw.graph.numerics import Fixed, Float, ValueType, reduce_words, start_word
from samhw.lang import parse
from samhw.lang.reference import Points, Rounding, evaluate_program, evaluate_with_bounds, results
from samhw.tensors import Tensor

OPS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
KINDS = {
    Float("f32"): Rounding.floating(23),
    Float("bf16"): Rounding.floating(7),
    Fixed(32, 8): Rounding.fixed(32, 8),
}
INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("storage", ["dense", "csr", "csc", "dcsr"])
def test_values(op: str, storage: str) -> None:
    rng = np.random.default_rng(len(op))
    array = rng.integers(-3, 4, (7, 12)) * (rng.random((7, 12)) < 0.6)
    array[3] = 0
    text = f"tensor A[i, j] : {storage}\nC[i, j] = cum{op}(j, 2 * A[i, j])\n"
    text += f"B[j, i] = cum{op}(i, A[i, j], exclusive)\n"
    text += f"p[j] = cum{op}(j, s[j])\n".replace("p[j]", "s[j] = A[i, j]\np[j]")
    found = evaluate_program(parse(text), {"A": Tensor.from_dense(array, storage)})
    np.testing.assert_array_equal(found["C"], OPS[op].accumulate(2 * array, axis=1))
    before = np.roll(OPS[op].accumulate(array, axis=0), 1, axis=0)
    before[0] = op == "prod"
    np.testing.assert_array_equal(found["B"], before.T)
    np.testing.assert_array_equal(found["p"], OPS[op].accumulate(array.sum(axis=0)))


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("mask", ["M[i, j]", "m[i]", "n[j]"])
def test_masks(op: str, exclusive: bool, mask: str) -> None:
    rng = np.random.default_rng(7)
    array = rng.integers(-3, 4, (6, 9)) * (rng.random((6, 9)) < 0.6)
    masks = {"M": (rng.random((6, 9)) < 0.5) * 1, "m": np.array([1, 0, 2, 0, 0, 1]), "n": np.arange(9) % 3}
    there = np.broadcast_to(
        {"M": masks["M"], "m": masks["m"][:, None], "n": masks["n"][None]}[mask[0]] != 0, (6, 9)
    )
    text = "tensor A[i, j] : csr\ntensor M[i, j] : csr\ntensor m[i]\ntensor n[j] : (compressed)\n"
    text += "unused[i, j] = M[i, j] * m[i] * n[j]\n"
    text += f"C[i, j] = cum{op}(j, A[i, j]{', exclusive' * exclusive}) where {mask}\n"
    expected = np.zeros((6, 9))
    for i in range(6):
        at = np.flatnonzero(there[i])
        so_far = OPS[op].accumulate(array[i, at]) if len(at) else at
        if exclusive and len(at):
            so_far = np.array([op == "prod", *so_far[:-1]])
        expected[i, at] = so_far
    np.testing.assert_array_equal(evaluate_program(parse(text), {"A": array, **masks})["C"], expected)


@pytest.mark.parametrize("op", OPS)
def test_only_what_is_wanted(op: str) -> None:
    """Of the rows with wanted points, all that comes before them is known."""
    rng = np.random.default_rng(3)
    array = rng.integers(-3, 4, (7, 12))
    program = parse(f"tensor A[i, j]\nS[i, j] = A[i, j] + 1\nC[i, j] = cum{op}(j, S[i, j])\n")
    whole = evaluate_program(program, {"A": array})["C"]
    wanted = Points(("0", "1"), np.array([[2, 5], [11, 3]]))
    found = results(program, {"A": array}, wanted={"C": wanted})["C"].to_array()
    assert [found[2, 11], found[5, 3]] == [whole[2, 11], whole[5, 3]]


def backend(kind: ValueType, op: str, row: list[int], exclusive: bool) -> np.ndarray:
    """What the hardware gives along a row of words."""
    words = [reduce_words(kind, op, row[: n + 1]) for n in range(len(row))]
    return kind.decode([start_word(kind, op), *words[:-1]] if exclusive else words)


@pytest.mark.nightly(but=24)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("numbers", ["usual", "great", "small", "special"])
@pytest.mark.parametrize("seed", range(2))
def test_no_result_is_further_off_than_the_bound(kind: ValueType, op: str, numbers: str, seed: int) -> None:
    if numbers != "usual" and isinstance(kind, Fixed):
        pytest.skip("it would saturate")
    rng = np.random.default_rng([seed, len(op)])
    scale = {"usual": 1.0, "great": 1e9, "small": 1e-9, "special": 1.0}[numbers]
    array = rng.normal(size=(8, 30)) * scale
    if isinstance(kind, Fixed):
        array /= 2
    if numbers == "special":
        chosen = random.Random(seed).choice([[INF], [-INF], [INF, -INF], [NAN], [3e38, INF], [3e38, -3e38]])
        array = np.where(rng.random(array.shape) < 0.05, rng.choice(chosen, array.shape), array)
    array = np.where(rng.random(array.shape) < 0.95, array, 0)
    text = f"tensor A[i, j]\nC[i, j] = cum{op}(j, A[i, j])\nB[i, j] = cum{op}(j, A[i, j], exclusive)\n"
    text += "r[i] = A[i, j]\n" if op == "sum" else f"r[i] {op}= A[i, j]\n"
    words = np.array([kind.encode(row) if numbers != "special" else special(kind, row) for row in array])
    given = kind.decode(words).astype(float)
    found = evaluate_with_bounds(parse(text), {"A": given}, KINDS[kind])
    for name, exclusive in (("C", False), ("B", True)):
        made = np.array([backend(kind, op, row.tolist(), exclusive) for row in words])
        check(*found[name], made)
    check(*found["r"], np.array([backend(kind, op, row.tolist(), False)[-1] for row in words]))
    if numbers == "usual":
        assert not found["C"].open.any()
        # A bound is of some use: a few roundings for each element.
        assert (
            found["C"].bound
            <= 80 * 30 * KINDS[kind].relative * (1 + np.abs(given).max(1, keepdims=True)) ** 2 + 1
        ).all()


def special(kind: ValueType, row: np.ndarray) -> np.ndarray:
    """The words of a row with infinities and NaN, which `encode` refuses."""
    finite = kind.encode(np.where(np.isfinite(row), row, 0))
    assert isinstance(kind, Float)
    infinity = kind.format.infinity
    sign = 1 << kind.width - 1
    return np.select(
        [np.isnan(row), row == INF, row == -INF], [kind.format.nan, infinity, infinity | sign], finite
    )


def check(value: np.ndarray, bound: np.ndarray, is_open: np.ndarray, made: np.ndarray) -> None:
    """Fails for a result that is neither within its bound nor open."""
    same = (made == value) | (np.isnan(made) & np.isnan(value))
    with np.errstate(invalid="ignore"):
        close = np.abs(made - value) <= bound + 1e-12 * (1 + np.abs(value))
    no_number = ~np.isfinite(made)
    good = np.where(is_open, no_number | close | np.isinf(bound), same | close)
    assert good.all(), (value[~good][:4], bound[~good][:4], is_open[~good][:4], made[~good][:4])


def test_an_uncertain_mask_leaves_everything_behind_it_uncertain() -> None:
    text = "tensor A[j]\ntensor M[j]\nm[j] = 0.3 * M[j] - 0.3 * M[j]\nC[j] = cumsum(j, A[j]) where m[j]\n"
    found = evaluate_with_bounds(
        parse(text), {"A": np.ones(4), "M": np.array([0.0, 0, 1, 0])}, Rounding.fixed(32, 8)
    )
    assert found["C"].bound[:2].tolist() == [0, 0]
    # As much as the range has.
    assert found["C"].bound[2] >= 2.0**23
