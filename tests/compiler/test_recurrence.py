"""Recurrences as graphs: orders, lanes, numbers, and their rate."""

import numpy as np
import pytest

import samhw
from samhw.app.api.design_result import DesignResult
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.lang import parse

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(-1, 2, (6, 9))
VALUES = RNG.integers(-3, 4, (6, 9))
VECTORS = RNG.integers(-3, 4, (9, 5))


def run(text: str, schedule: object = None, value: str = "i32", **arrays: np.ndarray) -> DesignResult:
    result = samhw.compile(text, value=value, **({"schedule": schedule} if schedule else {})).run(arrays)
    result.check()
    return result


def kinds(text: str) -> set[str]:
    return {node.kind for region in compile_job(Job(parse(text))).regions for node in region.graph.nodes}


PAIRS = "tensor A[i=6, t=9]\ntensor B[i=6, t=9]\n"
VECTOR = "tensor V[t=9, v=5]\n"
SUMS = PAIRS + VECTOR


def test_what_becomes_what() -> None:
    assert "recur" in kinds(f"{PAIRS}h[i, t] = recur(t, A[i, t], B[i, t])")
    assert {"recur", "last"} <= kinds(f"{PAIRS}l[i] = recur(t, A[i, t], B[i, t])")
    rows = f"{SUMS}o[i, v] = recur(t, A[i, t], B[i, t] * V[t, v])"
    assert "recur_vector" in kinds(rows + "    order i, t, v")
    columns = rows.replace("tensor V[t=9, v=5]", "tensor V[t=9, v=5] : dense @ (1, 0)")
    assert {"recur", "last"} <= kinds(columns + "    order i, v, t")


@pytest.mark.parametrize("order", ["i, t, v", "i, v, t", "t, i, v", "v, i, t"])
def test_orders(order: str) -> None:
    """All give the same. Outermost, t makes a recurrence of matrices."""
    text = f"{SUMS}o[i, v] = recur(t, A[i, t], B[i, t] * V[t, v])    order {order}"
    found = samhw.compile(text, value="i32", permute=True).run(A=FACTORS, B=VALUES, V=VECTORS)
    h = np.zeros((6, 5))
    for t in range(9):
        h = h * FACTORS[:, t, None] + VALUES[:, t, None] * VECTORS[t]
    np.testing.assert_array_equal(found["o"], h)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_row_that_stores_less_is_rescaled_as_a_whole(storage: str) -> None:
    vectors = VECTORS * (RNG.random(VECTORS.shape) < 0.4)
    text = (
        f"tensor A[i, t]\ntensor V[t, v] : {storage}\no[i, v] = recur(t, A[i, t], V[t, v])    order i, t, v"
    )
    h = np.zeros((6, 5))
    for t in range(9):
        h = h * FACTORS[:, t, None] + vectors[t]
    np.testing.assert_array_equal(run(text, A=FACTORS, V=vectors)["o"], h)


def test_numbers() -> None:
    found = run("tensor B[i, t]\nh[i, t] = recur(t, 2, B[i, t])\nl[i] = recur(t, B[i, t], 1)", B=FACTORS)
    h, last = np.zeros(6), np.zeros(6)
    for t in range(9):
        h, last = h * 2 + FACTORS[:, t], last * FACTORS[:, t] + 1
    np.testing.assert_array_equal(np.asarray(found["h"])[:, -1], h)
    np.testing.assert_array_equal(found["l"], last)


def test_lanes_outside() -> None:
    text = f"{SUMS}o[i, v] = recur(t, A[i, t], B[i, t] * V[t, v])    order i, t, v"
    arrays = {"A": FACTORS, "B": VALUES, "V": VECTORS}
    np.testing.assert_array_equal(run(text, {"lanes": {"i": 3}}, **arrays)["o"], run(text, **arrays)["o"])
    with pytest.raises(InputError, match=r"'t' cannot have lanes: .* reduces it"):
        run(text, {"lanes": {"t": 3}}, **arrays)


@pytest.mark.parametrize("value", ["f32", "bf16", "i32", "fixed<16,8>"])
def test_a_value_a_cycle(value: str) -> None:
    """Whatever the latency of a step: the cycles are the elements, and some to fill the pipeline."""
    factors, vectors = np.full(40, 0 if value == "i32" else 0.5), np.ones((40, 64))
    for text, elements in (
        ("h[t] = recur(t, a[t], b[t])", 40),
        ("o[v] = recur(t, a[t], V[t, v])    order t, v", 40 * 64),
    ):
        design = samhw.compile(text, value=value)
        arrays = {"a": factors, "b": np.ones(40)} if "b[t]" in text else {"a": factors, "V": vectors}
        assert elements < design.run(**arrays).cycles < elements + 250
