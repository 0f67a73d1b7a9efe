"""An index that an access names twice."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.compiler.passes import apply_passes
from samhw.compiler.search import Job
from samhw.lang import dumps, parse

RNG = np.random.default_rng(11)


def sparse(*shape: int) -> Any:
    return (RNG.random(shape) < 0.6) * RNG.integers(-9, 9, shape)


def whole(result: Any) -> Any:
    """A result as an array of NumPy."""
    return result if isinstance(result, np.ndarray) else result.todense()


A, B, CUBE, X = sparse(6, 6), sparse(6, 7), sparse(4, 4, 4), sparse(6)


def test_it_prints_as_a_computed_index() -> None:
    text = "tensor A[m, n]\ny[i] = A[i, i] * A[i, i]"
    assert "y[i] = A[i, i + 0] * A[i, i + 0]" in dumps(parse(text))
    assert dumps(parse(dumps(parse(text)))) == dumps(parse(text))


@pytest.mark.parametrize("storage", ["dense", "csr", "csc", "dcsr", "coo", "ell(5)", "dia"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("y[i] = A[i, i]", np.diag(A)),
        ("y = A[i, i]", np.trace(A)),
        ("y[i, j] = A[i, i] * B[i, j]", np.diag(A)[:, None] * B),
        ("y[i] = A[i, i] * A[i, j] * x[j]", np.diag(A) * (A @ X)),
        ("y max= A[i, i]", np.diag(A).max()),
    ],
)
def test_of_any_format(text: str, wanted: Any, storage: str) -> None:
    arrays = {name: array for name, array in (("A", A), ("B", B), ("x", X)) if f"{name}[" in text}
    found = samhw.compile(text, formats={"A": storage}).run(arrays)
    assert found.check().verdict == "right"
    np.testing.assert_array_equal(found["y"], wanted)


@pytest.mark.parametrize("matrix", [B, B.T], ids=["wide", "tall"])
def test_of_a_matrix_that_is_not_square(matrix: Any) -> None:
    """As long as the rows are many; after the last column there are zeros."""
    found = samhw.compile("y[i] = A[i, i]", formats={"A": "csr"}).run(A=matrix)
    assert found.check().verdict == "right"
    wanted = np.zeros(len(matrix), int)
    wanted[: min(matrix.shape)] = np.diag(matrix)
    np.testing.assert_array_equal(found["y"], wanted)


def test_of_three_modes() -> None:
    text = "y[i] = A[i, i, i]\nz[i, j] = A[i, j, i]"
    found = samhw.compile(text, formats={"A": "csf"}).run(A=CUBE)
    np.testing.assert_array_equal(found["y"], np.einsum("iii->i", CUBE))
    np.testing.assert_array_equal(found["z"], np.einsum("iji->ij", CUBE))


@pytest.mark.parametrize("storage", ["dense", "csr", "csc"])
def test_on_the_left(storage: str) -> None:
    found = samhw.compile(f"tensor Y[m=6, n=6] : {storage}\nY[i, i] = x[i]").run(x=X)
    assert found.check().verdict == "right"
    np.testing.assert_array_equal(whole(found["Y"]), np.diag(X))


@pytest.mark.parametrize(("storage", "places"), [("csr", "(dense, singleton)"), ("csc", "csc")])
def test_places_are_stored_as_the_tensor_is(storage: str, places: str) -> None:
    """So that one order of loops suits both."""
    program = parse(f"tensor A[m=6, n=6] : {storage}\ntensor y[i=6]\ny[i] = A[i, i]")
    lines = dumps(apply_passes(Job(program).lowerable(), "place_by_index").program).splitlines()
    assert f"tensor A_places[i=6, n_2=6] : {places}" in lines


def test_of_a_state() -> None:
    """In a scan the step is an index too, and no place."""
    text = """
tensor S[h=4, g=4]
scan t {
  D[t, h] = H[t-1, h, h] + R[t, h]
  H[t, h, g] = H[t-1, h, g] + D[t, h]
}
H[-1, h, g] = S[h, g]"""
    state, rows = sparse(4, 4), sparse(3, 4)
    found = samhw.compile(text).run(S=state, R=rows)
    assert found.check().verdict == "right"
    for t, row in enumerate(rows):
        state = state + (np.diag(state) + row)[:, None]
        np.testing.assert_array_equal(whole(found["H"])[t], state)


@pytest.mark.slow
@pytest.mark.verilator
def test_in_rtl() -> None:
    text = "tensor Y[m=6, n=6] : csr\ny[i] = A[i, i] * A[i, j] * x[j]\nY[i, i] = y[i]"
    design = samhw.compile(text, formats={"A": "csc"}, schedule="auto")
    model, rtl = (design.run({"A": A, "x": X}, backend=backend) for backend in ("sim", "verilator"))
    assert rtl.cycles == model.cycles
    np.testing.assert_array_equal(whole(rtl["Y"]), np.diag(np.diag(A) * (A @ X)))
