"""The schedule that a run reports can be given again, and `auto` takes what it has chosen: also where passes
add tensors and indices."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import samhw
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, lower_program
from samhw.errors import InputError
from samhw.lang.decision import Refusal

A = np.array([[1, 2, 0], [3, 1, 2], [0, 4, 1]])
GATHERED = "T[l, j] = A[l, j] * A[j, l] + A[j, l] * A[wrap(l + j), j]"


def gathered() -> np.ndarray:
    rows, columns = np.indices(A.shape)
    return A * A.T + A.T * A[(rows + columns) % 3, columns]


@pytest.mark.parametrize("fuse", ["none", "partial", "full", "kinds", "auto"])
def test_a_schedule_reads_back(fuse: str) -> None:
    """It names the region that ends with a tensor of a pass, and gives the same graphs."""
    first = samhw.compile(GATHERED, schedule={"fuse": fuse, "permute": True}).run(A=A)
    np.testing.assert_array_equal(first["T"], gathered())
    used = first.compiled.schedule
    assert list(used.order) == ["A_at", "T"]
    again = samhw.compile(GATHERED, schedule=used).run(A=A)
    np.testing.assert_array_equal(again["T"], gathered())
    assert again.cycles == first.cycles
    assert again.compiled.schedule == used
    assert [r.graph for r in again.compiled.regions] == [r.graph for r in first.compiled.regions]
    assert Schedule.from_fields(used.to_json()) == used


@pytest.mark.parametrize("order", [("l", "j"), ("j", "l")])
def test_an_order_in_the_indices_of_the_text(order: tuple[str, str]) -> None:
    """It holds for the statement as it is written; what the pass adds finds an order of its own."""
    r = samhw.compile(GATHERED, schedule={"fuse": "full", "permute": True, "order": {"T": order}}).run(A=A)
    np.testing.assert_array_equal(r["T"], gathered())
    assert dict(r.compiled.schedule.order)["T"] == order
    assert r.check().good


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ({"order": {"A_near": ["l", "j"]}}, "'order' names 'A_near', which no statement of 'text' computes"),
        ({"share": {"A_near": "store"}}, "'share' names 'A_near', which no statement of 'text' computes"),
        ({"queues": {"A_near": 4}}, "'queues' names 'A_near'"),
    ],
)
def test_a_name_that_nothing_computes(schedule: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        samhw.compile(GATHERED, schedule={"permute": True, **schedule}).run(A=A)


def test_auto_takes_the_queues_that_it_chooses() -> None:
    """Of what a pass gathers, rows wait."""
    n = 8
    i, j = np.indices((n, n))
    a = np.where((i % 7 == 0) | ((i + j) % n < i % 3), 1 + (i + j) % 3, 0)
    turned = np.roll(a, -1, 1)
    m = np.array([max(row[stored != 0], default=0) for row, stored in zip(turned, a, strict=True)])
    text = (
        "tensor A[i, j] : csr\nm[i] max= A[i, wrap(j + 1)] where A[i, j]\n"
        "Y[i, j] = A[i, wrap(j + 1)] - m[i] where A[i, j]"
    )
    r = samhw.compile(text, schedule={"fuse": "auto", "permute": True}).run(A=scipy.sparse.csr_array(a))
    np.testing.assert_array_equal(r["Y"], np.where(a != 0, turned - m[:, None], 0))
    assert "A_at" in r.compiled.schedule.queues
    again = samhw.compile(text, schedule=r.compiled.schedule).run(A=scipy.sparse.csr_array(a))
    assert again.cycles == r.cycles


def test_auto_keeps_the_design_that_it_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was chosen is not compiled again; it takes data of other extents."""
    design = samhw.compile("y[i] = A[i, j] * x[j]", schedule="auto")
    made: list[Compiled | Refusal] = []

    def noted(*given: Any) -> Compiled | Refusal:
        made.append(lower_program(*given))
        return made[-1]

    monkeypatch.setattr("samhw.compiler.pipeline.lower_program", noted)
    x = np.arange(3)
    np.testing.assert_array_equal(design.run(A=A, x=x)["y"], A @ x)
    assert any(isinstance(one, Compiled) and one.regions is design.compiled.regions for one in made)
    made.clear()
    np.testing.assert_array_equal(design.run(A=A[:2, :2], x=x[:2])["y"], A[:2, :2] @ x[:2])
    assert not made


@pytest.mark.parametrize("source", ["dense", "csr", "dcsr", "(compressed, dense)", "coo"])
@pytest.mark.parametrize("result", ["dense", "csr", "dcsr", "(compressed, dense)", "dense @ (1, 0)"])
def test_the_schedule_of_a_transposition_reads_back(source: str, result: str) -> None:
    """A copy may take a further region, which has an order of its own."""
    text = f"tensor A[i, j] : {source}\ntensor Y[j, i] : {result}\nX[i, j] = 2 * A[i, j]\nY[j, i] = A[i, j]"
    matrix = np.array([[2, 0, 1, 0], [0, 0, 3, 0], [1, 0, 0, 0]])
    design = samhw.compile(text, schedule={"fuse": "none"}, value="i32")
    first = design.run({"A": matrix})
    again = samhw.compile(text, schedule=design.compiled.schedule, value="i32").run({"A": matrix})
    np.testing.assert_array_equal(again.tensors["Y"].to_dense(), matrix.T)
    assert again.cycles == first.cycles
