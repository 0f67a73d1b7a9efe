"""Where results may be stored: what sparse operands leave out, and what streams cannot know."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from samhw.lang import parse, pattern, result_patterns
from samhw.lang.reference import evaluate_program
from samhw.tensors import Tensor
from tests.support.patterns import as_array
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs

A = np.array([[1, 0, 2], [0, 0, 0]])
B = np.array([[-1, 5, 0], [3, 0, -2]])
C = np.array([0, 2, -3])
R = np.array([4, 0])
DECLARED = {
    "A": "tensor A[i=2, j=3] : csf",
    "B": "tensor B[i=2, j=3] : csf",
    "D": "tensor D[i=2, j=3] : (compressed, dense)",
    "c": "tensor c[j=3] : csf",
    "r": "tensor r[i=2] : csf",
    "s": "tensor s",
}
ARRAYS = {"A": A, "B": B, "D": A, "c": C, "r": R, "s": np.array(0)}


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("y[i, j] = A[i, j] - A[i, j]", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = A[i, j] + 1", [[1, 1, 1], [1, 1, 1]]),
        ("y[i, j] = A[i, j] + 0", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = relu(A[i, j] * B[i, j])", [[1, 0, 0], [0, 0, 0]]),
        ("y[i, j] = exp(A[i, j]) where B[i, j]", [[1, 1, 0], [1, 0, 1]]),
        ("y[i, j] = leaky_relu(A[i, j], 0.5)", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = select(le(A[i, j], 0), 0, A[i, j])", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = select(A[i, j], 1, B[i, j])", [[1, 1, 1], [1, 0, 1]]),
        ("y[i, j] = select(A[i, j], 0, 0)", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = max(A[i, j], B[i, j])", [[1, 1, 1], [1, 0, 1]]),
        ("y[i, j] = max(A[i, j], -1)", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = A[i, j] / (1 + c[j])", [[1, 0, 1], [0, 0, 0]]),
        # A maximum sees the zeros under its mask, and all of them where there is none.
        ("y[i] max= -A[i, j] where c[j]", [1, 1]),
        ("y[i] max= -A[i, j] where A[i, j]", [1, 0]),
        ("y[i] max= -A[i, j]", [1, 1]),
        ("y[i, j] = 0 * A[i, j]", [[0, 0, 0], [0, 0, 0]]),
        ("y[i, j] = max(0 * A[i, j], B[i, j])", [[1, 1, 0], [1, 0, 1]]),
        ("y[i] = A[i, j] * c[j]", [1, 0]),
        # Along j, where r has no level, the sum has a value everywhere, whatever c stores.
        ("y[i, j] = A[i, j] * (r[i] + c[j])", [[1, 0, 1], [0, 0, 0]]),
        ("y[i, j] = A[i, j] + r[i]", [[1, 1, 1], [0, 0, 0]]),
        ("y[i, j] = relu(B[i, j] - s)", [[1, 1, 1], [1, 1, 1]]),
        ("y[i, j] = r[i] + B[i, j] where A[i, j]", [[1, 0, 1], [0, 0, 0]]),
        # A row of D is stored whole.
        ("y[i, j] = D[i, j] * B[i, j]", [[1, 1, 0], [0, 0, 0]]),
        ("y[i, j] = concat(j, A[i, j], D[i, j])", [[1, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]),
    ],
)
@pytest.mark.parametrize("at_once", [1, 1 << 24])
def test_patterns(text: str, stored: ArrayLike, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "_MOST_AT_ONCE", at_once)
    used = {name: line for name, line in DECLARED.items() if f"{name}[" in text or f" {name})" in text}
    left = text.partition(" ")[0] if "," not in text.partition("=")[0] else text.partition("]")[0] + "]"
    program = parse("\n".join([*used.values(), f"tensor {left} : csf", text]))
    tensors = {name: Tensor.from_dense(ARRAYS[name], program.tensors[name].format) for name in used}
    found = result_patterns(program.bind({n: t.shape for n, t in tensors.items()}), tensors)["y"]
    indices = "".join(program.tensors["y"].indices)
    assert as_array(found, indices, np.shape(stored)).tolist() == np.array(stored, bool).tolist()
    extents = dict(zip(indices, np.shape(stored), strict=True))
    assert found.count(extents) == np.sum(stored)


@settings(max_examples=50)
@given(chained_programs(max_extent=4, integers=False), st.integers(0, 2**32))
def test_patterns_cover_the_values(program, seed) -> None:
    tensors = random_tensors(program, np.random.default_rng(seed))
    dense = {name: tensor.to_dense() for name, tensor in tensors.items()}
    found = result_patterns(program, tensors)
    for name, array in evaluate_program(program, dense).items():
        # The indices of a declaration are words here, not letters.
        letters = {index: chr(97 + n) for n, index in enumerate(program.tensors[name].indices)}
        covered = as_array(found[name].renamed(letters), "".join(letters.values()), array.shape)
        assert not array[~covered].any(), name


def test_cost_follows_what_is_stored() -> None:
    """A hundred thousand rows and as many columns, of which an array would have no room."""
    n = 100_000
    program = parse(
        f"tensor A[i={n}, k={n}] : csr\ntensor X[k, j=8] : dense\ntensor T[i, j] : csr\n"
        "T[i, j] = A[i, k] * X[k, j]"
    )
    rng = np.random.default_rng(0)
    tensors = {
        "A": Tensor.from_coo(rng.integers(0, n, (2, 2 * n)), np.ones(2 * n, int), (n, n), "csr"),
        "X": Tensor.from_dense(np.ones((n, 8), int), "dense"),
    }
    found = result_patterns(program.bind({}), tensors)["T"]
    rows = len(np.unique(tensors["A"].to_coo()[0][0]))
    assert found.count({"i": n, "j": 8}) == 8 * rows
