"""A check compares what was lowered, whatever passes have made of the program: indices that are computed,
splits, cascades and orders beside each other. The right values are NumPy's, worked out here."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.checking import Verdict
from samhw.app.checking.check_run import check
from samhw.compiler.passes import place_by_index
from samhw.tensors import Tensor

TURNED = (np.arange(16) % 5).reshape(4, 4)
PLACES = np.array([2, 0, 1])


def right(text: str, data: dict[str, Any], want: dict[str, Any], **schedule: Any) -> None:
    """A program is right under a schedule, and its check says so."""
    value = schedule.pop("value", None)
    r = samhw.compile(text, schedule=schedule, value=value).run(data)
    for name, expected in want.items():
        np.testing.assert_allclose(r[name], expected, rtol=1e-5, atol=1e-5)
    assert r.check().good


@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("place", ["wrap(j - 1)", "P[j]"])
def test_a_recurrence_under_a_mask_at_other_places(place: str, value: str) -> None:
    a, b = np.array([[1, 2, 3], [2, 1, 2]]), np.array([[1, 1, 2], [3, 1, 1]])
    mask = np.array([[1, 0, 1], [0, 1, 1]])
    want = []
    for i in range(2):
        h, is_first = 0, True
        for j in range(3):
            if mask[i, PLACES[j] if "P" in place else (j - 1) % 3]:
                h, is_first = (b[i, j] if is_first else h * a[i, j] + b[i, j]), False
        want.append(h)
    data = {"A": a, "B": b, "M": mask} | ({"P": PLACES} if "P" in place else {})
    right(f"y[i] = recur(j, A[i, j], B[i, j]) where M[i, {place}]", data, {"y": want}, value=value)


@pytest.mark.parametrize("form", ["off", "rescaled", "finite", "deferred"])
@pytest.mark.parametrize("place", ["wrap(j + 1)", "P[j]"])
def test_a_cascade_at_other_places(place: str, form: str) -> None:
    a = np.array([[0.0, 1, 2], [2, 2, 2], [-1, 0, 3]])
    scores = a[:, PLACES] if "P" in place else np.roll(a, -1, 1)
    grown = np.exp(scores - scores.max(1, keepdims=True))
    head = "tensor P[j]\n" if "P" in place else ""
    text = (
        f"index j=3\ntensor A[i, k]\n{head}m[i] max= A[i, {place}]\nZ[i] = exp(A[i, {place}] - m[i])\n"
        f"Y[i, j] = exp(A[i, {place}] - m[i]) / Z[i]"
    )
    data = {"A": a} | ({"P": PLACES} if "P" in place else {})
    want = {"Y": grown / grown.sum(1, keepdims=True)}
    right(text, data, want, value="f32", fuse="full", cascade=form)


@pytest.mark.parametrize("sums", [[], ["y"], "auto"])
def test_a_split_beside_a_computed_index(sums: Any) -> None:
    x = np.array([1.0, 2, 3, 4])
    left = np.hstack([np.zeros((4, 1)), TURNED[:, :3]])
    want = ((TURNED * left).sum(1) * x).sum()
    text = "y = A[i, j] * A[i, j - 1] * x[i]"
    split = {"split": {"A": "diagonal + csr"}, "partial_sums": sums, "permute": True}
    right(text, {"A": TURNED, "x": x}, {"y": want}, value="f32", **split)


def test_a_split_beside_a_sum_that_is_only_computed_with() -> None:
    b = np.array([1.0, 2, 3, 4])
    want = [
        TURNED[:, i].sum() + TURNED[(i + 1) % 4, i] * sum(b[(j + i) % 4] for j in range(4)) for i in range(4)
    ]
    text = "tensor A[j, i]\ntensor B[i]\ny[i] = A[j, i] + A[wrap(i + 1), i] * B[wrap(j + i)]"
    split = {"split": {"A": "blocks(2, density=0.8) + dcsr"}, "permute": True}
    right(text, {"A": TURNED, "B": b}, {"y": want}, value="f32", **split)


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_an_order_beside_a_computed_index(value: str) -> None:
    turned = np.roll(2 * TURNED, -1, 1)
    text = (
        "index k=4\ntensor A[n, l]\nfuse {\n  T[n, l] = 2 * A[n, l]\n"
        "  M[m] max= T[m, wrap(k + 1)]    order k, m\n  D[m, k] = T[m, wrap(k + 1)] - M[m]\n}"
    )
    want = {"D": turned - turned.max(1, keepdims=True)}
    right(text, {"A": TURNED}, want, value=value, permute=True)


@pytest.mark.parametrize("form", ["off", "rescaled"])
def test_a_cascade_under_a_mask_of_rows(form: str) -> None:
    a, mask = np.array([[1.0, 2], [3, 3]]), np.array([1.0, 0])
    grown = np.where(mask[:, None] != 0, np.exp(a - a.max(1, keepdims=True)), 0)
    text = (
        "tensor A[i, j] : dcsr\ntensor M[i]\nm[i] max= A[i, k] where M[i]\n"
        "E[i, k] = exp(A[i, k] - m[i]) where M[i]\nZ[i] = E[i, k]\n"
        "P[i, k] = E[i, k] / Z[i] where M[i]\ns[i] = P[i, k]\nz[i] = Z[i] + 1"
    )
    want = {"s": mask, "z": grown.sum(1) + 1}
    right(text, {"A": a, "M": mask}, want, value="f32", fuse="full", cascade=form)


@pytest.mark.parametrize(
    ("text", "data", "want"),
    [
        ("tensor Y[a=3, b=3]\nY[2, k] = A[k]", [1, 2, 3], [[0, 0, 0], [0, 0, 0], [1, 2, 3]]),
        ("tensor Y[a=3]\nY[2] = A", 3, [0, 0, 3]),
    ],
)
def test_a_scatter_to_a_number(text: str, data: Any, want: Any) -> None:
    right(text, {"A": np.array(data)}, {"Y": want})


@pytest.mark.parametrize(
    ("schedule", "value"),
    [
        ({"permute_rows": {"A": "by length"}}, "i32"),
        ({"permute_rows": {"A": "by length"}}, "f32"),
        ({"split": {"A": "rows(2)"}}, "f32"),
        ({"blocks": {"i": 2}}, "i32"),
        ({"lanes": {"i": 2}}, "bf16"),
    ],
)
def test_one_wrong_element_is_seen(schedule: dict[str, Any], value: str) -> None:
    """In whatever order, parts or blocks a result has been stored."""
    x = np.array([1, 2, 3, 4])
    r = samhw.compile("y[i] = A[i, j] * x[j]", schedule=schedule, value=value).run(A=TURNED, x=x)
    assert r.check().verdict is Verdict.RIGHT
    for row in range(4):
        values = np.array(r["y"])
        values[row] += 1
        outputs = {**r.tensors, "y": Tensor.from_dense(values, "dense")}
        assert check(r.workload, r.compiled, outputs).tensors["y"] is Verdict.WRONG
    assert check(r.workload, r.compiled, r.tensors).good


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_a_pass_that_makes_another_program_is_seen(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the run computes what the pass has made, and each region is right by itself."""
    text = "Y[i, j] = A[i, wrap(j + 1)] * 2"

    def verdict() -> Verdict:
        r = samhw.compile(text, value=value).run(A=TURNED)
        return check(r.workload, r.compiled, r.tensors).tensors["Y"]

    assert verdict() is Verdict.RIGHT
    matrix = place_by_index._Naming.matrix

    def shifted(naming: Any, *sources: Tensor) -> Tensor:
        found = matrix(naming, *sources).to_dense()
        return Tensor.from_dense(np.roll(found, 1, axis=0), "dense")

    monkeypatch.setattr("samhw.compiler.passes.place_by_index._Naming.matrix", shifted)
    assert verdict() is Verdict.WRONG
