"""Recurrences: values against a loop, bounds against the arithmetic of every type."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from samhw.graph.numerics import Fixed, ValueType, recurrence_word
from samhw.lang import parse
from samhw.lang.reference import Points, evaluate_program, evaluate_with_bounds, results
from samhw.tensors import Tensor
from tests.reference.test_running import KINDS, check, special

INF, NAN = np.inf, np.nan


def loop(factors: Sequence[float], values: Sequence[float]) -> list[float]:
    """h at each element."""
    found: list[float] = []
    for r, x in zip(factors, values, strict=True):
        found.append(found[-1] * r + x if found else x)
    return found


@pytest.mark.parametrize("storage", ["dense", "csr", "dcsr"])
@pytest.mark.parametrize("mask", ["", " where M[i, t]", " where m[i]"])
def test_values(storage: str, mask: str) -> None:
    rng = np.random.default_rng(len(mask))
    a = rng.integers(-1, 3, (6, 9)) * (rng.random((6, 9)) < 0.8)
    b = rng.integers(-3, 4, (6, 9)) * (rng.random((6, 9)) < 0.6)
    v = rng.integers(-3, 4, (9, 4))
    masks = {"M": (rng.random((6, 9)) < 0.5) * 1, "m": np.array([1, 0, 2, 0, 0, 1])}
    there = {"": np.ones((6, 9)), "M": masks["M"], "m": masks["m"][:, None] * np.ones((6, 9))}[mask[7:8]] != 0
    text = f"tensor A[i, t] : {storage}\ntensor B[i, t] : {storage}\ntensor V[t, v]\ntensor M[i, t] : csr\n"
    text += "tensor m[i]\nunused[i, t] = M[i, t] * m[i]\n"
    text += f"h[i, t] = recur(t, A[i, t], B[i, t] + 1){mask}\nl[i] = recur(t, A[i, t], B[i, t]){mask}\n"
    text += f"o[i, v] = recur(t, A[i, t], B[i, t] * V[t, v]){mask}\n"
    tensors = {"A": Tensor.from_dense(a, storage), "B": Tensor.from_dense(b, storage)}
    found = evaluate_program(parse(text), {**tensors, "V": v, **masks})
    h, last, o = np.zeros((6, 9)), np.zeros(6), np.zeros((6, 4))
    for i in range(6):
        at = np.flatnonzero(there[i])
        if len(at):
            h[i, at] = loop(a[i, at], b[i, at] + 1)
            last[i] = loop(a[i, at], b[i, at])[-1]
            o[i] = np.array(loop(a[i, at], list(b[i, at, None] * v[at])))[-1]
    for name, expected in (("h", h), ("l", last), ("o", o)):
        np.testing.assert_array_equal(found[name], expected)


def test_only_what_is_wanted() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-1, 3, (2, 7, 12))
    text = "tensor A[i, t]\ntensor B[i, t]\nS[i, t] = A[i, t] + 1\nh[i, t] = recur(t, S[i, t], B[i, t])\n"
    program = parse(text + "l[i] = recur(t, S[i, t], B[i, t])\n")
    whole = evaluate_program(program, {"A": a, "B": b})
    wanted = {"h": Points(("0", "1"), np.array([[2, 5], [11, 3]])), "l": Points(("0",), np.array([[4]]))}
    found = results(program, {"A": a, "B": b}, wanted=wanted)
    assert found["h"].to_array()[2, 11] == whole["h"][2, 11]
    assert found["l"].to_array()[4] == whole["l"][4]


def vector_word(kind: ValueType, factors: Sequence[int], words: Sequence[int]) -> int:
    """One element after the other."""
    add, multiply = kind.scalar("add"), kind.scalar("mul")
    h = words[0]
    for r, x in zip(factors[1:], words[1:], strict=True):
        h = add(multiply(h, r), x)
    return h


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("numbers", ["usual", "growing", "small", "special"])
@pytest.mark.parametrize("seed", range(2))
def test_no_result_is_further_off_than_the_bound(kind: ValueType, numbers: str, seed: int) -> None:
    if numbers in ("small", "special") and isinstance(kind, Fixed):
        pytest.skip("it has no such numbers")
    rng = np.random.default_rng(seed)
    factors = rng.random((2, 8, 40)) if numbers != "growing" else rng.normal(size=(2, 8, 40))
    values = rng.normal(size=(8, 40)) * (1e-30 if numbers == "small" else 1.0)
    factors = factors[0] * (1e-9 if numbers == "small" else 1.0)
    if numbers == "special":
        chosen = [[INF], [NAN], [INF, -INF], [3e38]][2 * seed : 2 * seed + 2]
        values = np.where(rng.random(values.shape) < 0.03, rng.choice(chosen[0], values.shape), values)
        factors = np.where(rng.random(values.shape) < 0.03, rng.choice(chosen[1], values.shape), factors)
    factors, values = (np.where(rng.random(x.shape) < 0.95, x, 0) for x in (factors, values))
    encode = partial(special, kind) if numbers == "special" else kind.encode
    a, b = (np.array([encode(row) for row in array]) for array in (factors, values))
    text = "tensor A[i, t]\ntensor B[i, t]\nh[i, t] = recur(t, A[i, t], B[i, t])\n"
    text += "l[i] = recur(t, A[i, t], B[i, t])\n"
    given = {"A": kind.decode(a).astype(float), "B": kind.decode(b).astype(float)}
    found = evaluate_with_bounds(parse(text), given, KINDS[kind])
    words = [
        [recurrence_word(kind, r[: n + 1], x[: n + 1]) for n in range(len(x))]
        for r, x in zip(a.tolist(), b.tolist(), strict=True)
    ]
    check(*found["h"], np.array([kind.decode(row) for row in words]))
    check(*found["l"], kind.decode([row[-1] for row in words]))
    vectors = [vector_word(kind, r, x) for r, x in zip(a.tolist(), b.tolist(), strict=True)]
    check(*found["l"], kind.decode(vectors))
    if numbers == "usual":
        for name in "hl":
            assert not found[name].open.any()
            assert (found[name].bound <= 400 * KINDS[kind].relative + 6000 * KINDS[kind].absolute).all()


def test_the_first_factor_counts_for_nothing() -> None:
    text = "tensor A[t]\ntensor B[t]\nh[t] = recur(t, A[t], B[t])\nl = recur(t, A[t], B[t])\n"
    given = {"A": np.array([INF, 0.5, 2.0]), "B": np.array([1.0, 1.0, 1.0])}
    found = evaluate_with_bounds(parse(text), given, KINDS[next(iter(KINDS))])
    assert found["h"].value.tolist() == [1, 1.5, 4]
    assert found["l"].value == 4
    assert not found["h"].open.any()
    assert not found["l"].open


@pytest.mark.parametrize("stored", [(), (2,), (1, 3), (0, 1, 2, 3)])
def test_a_factor_that_is_not_stored_is_zero_and_not_what_it_multiplies(stored: Sequence[int]) -> None:
    """In the end there is at least the last summand, even if no factor is stored at all."""
    program = parse(
        "tensor a[t=4] : csf\ntensor x[i=2, t] : csr\ntensor V[t, v=3]\ntensor y[i, v]\n"
        "y[i, v] = recur(t, a[t], x[i, t] * V[t, v])"
    )
    a, x = np.zeros(4), np.array([[1.0, 2, 0, 4], [0, 3, 5, 0]])
    a[list(stored)] = 0.5
    values = np.arange(1.0, 13).reshape(4, 3)
    expected = np.zeros((2, 3))
    for t in range(4):
        expected = expected * a[t] + x[:, t, None] * values[t]
    tensors = {
        "a": Tensor.from_dense(a, "csf"),
        "x": Tensor.from_dense(x, "csr"),
        "V": Tensor.from_dense(values, "dense"),
    }
    np.testing.assert_array_equal(evaluate_program(program, tensors)["y"], expected)
