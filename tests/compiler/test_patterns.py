"""What graphs store lies within the pattern from which the memories of a result are sized."""

import numpy as np
import pytest

from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.lang import parse, result_patterns
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.patterns import as_array
from tests.support.program_cases import random_tensors

DECLARED = {
    "T": "tensor T[k=4, i=5, j=6] : csf",
    "M": "tensor M[k=4, i=5, j=6] : csf",
    "D": "tensor D[k=4, i=5, j=6] : dense",
    "A": "tensor A[i=5, j=6] : csf",
    "Y": "tensor Y[i=5, j=6] : csf",
}


@pytest.mark.parametrize(
    "statement",
    [
        "Y[i,j] max= T[k,i,j] where M[k,i,j]    order k,i,j",
        "Y[i,j] max= 0 * T[k,i,j] where M[k,i,j]    order k,i,j",
        "Y[i,j] min= 0 * D[k,i,j]    order k,i,j",
        "Y[i,j] = 0 * T[k,i,j]    order k,i,j",
        "Y[i,j] = 0 * A[i,j]",
        "Y[i,j] = max(0 * A[i,j], A[i,j])",
        "Y[i,j] = A[i,j] * relu(A[i,j] * 0) + abs(0 * A[i,j])",
    ],
)
def test_stored_within_the_pattern(statement: str) -> None:
    used = [text for name, text in DECLARED.items() if f"{name}[" in statement]
    program = parse("\n".join([*used, statement]))
    stored = 0
    for number in range(12):
        tensors = random_tensors(program, np.random.default_rng(number), -1, 1)
        expected = as_array(result_patterns(program, tensors)["Y"], "ij", (5, 6))
        outputs = run(compile_workload(Workload("random", program, tensors)), tensors).outputs
        found = pattern(outputs["Y"])
        assert not (found & ~expected).any()
        stored += int(np.count_nonzero(found))
    assert stored or "0 * " in statement


def test_an_operand_that_a_union_has_left_behind_gives_no_coordinates() -> None:
    """At a k that only C has, B stores nothing below, and the product gives zeros at every i of A."""
    program = parse(
        "tensor A[i=9, j=5] : dcsc\ntensor B[j=5, k=9] : (compressed, dense) @ (1, 0)\n"
        "tensor C[i=9, k=9] : dcsc\ntensor Y[i=9, k=9] : dcsc\n"
        "fuse {\n  T[i, k] = A[i, j] * B[j, k]\n  Y[i, k] = T[i, k] + C[i, k]\n}\n"
    )
    shapes = {"A": np.ones((9, 5)), "B": np.eye(5, 9), "C": np.eye(9)}
    tensors = {
        name: Tensor.from_dense(array.astype(int), program.tensors[name].format)
        for name, array in shapes.items()
    }
    work = Workload("left behind", program, tensors)
    outputs = run(compile_workload(work, Schedule(order=("k", "j", "i"))), tensors).outputs
    assert np.array_equal(pattern(outputs["Y"]), shapes["A"] @ shapes["B"] + shapes["C"] != 0)


BESIDE = {
    "A": "tensor A[i=6, k=5] : csf",
    "B": "tensor B[i=6, l=4, k=5] : csf",
    "C": "tensor C[k=5] : csf",
    "D": "tensor D[l=4, k=5] : csf",
    "E": "tensor E[i=6] : csf",
    "F": "tensor F[i=6] : csf",
    "G": "tensor G[i=6, l=4] : csf",
    "M": "tensor M[i=6] : csf",
}


@pytest.mark.parametrize(
    "text",
    [
        "Y[i,k] = A[i,k] + C[k] * E[i]",
        "Y[i,k] = A[i,k] - relu(E[i]) * C[k]",
        "Y[i,k] = max(A[i,k], C[k] * E[i])",
        "Y[i,k] = A[i,k] + D[l,k] * E[i]    order i,l,k",
        "Y[i,k] = A[i,k] + D[l,k] * G[i,l]    order i,l,k",
        "Y[i,k] = A[i,k] + C[k] * (E[i] + F[i])",
        "Y[i,k] = A[i,k] + (C[k] * E[i] + C[k] * F[i])",
        "Y[i,k] = C[k] * E[i] where M[i]",
        "fuse { T[i,k] = C[k] * E[i]\n Y[i,k] = A[i,k] + T[i,k] }",
        "fuse { T[i,k] = C[k] where E[i]\n Y[i,k] = A[i,k] + T[i,k] }",
        "fuse { T[i,k] = A[i,k] - E[i] * C[k]\n Y[i,k] = T[i,k] * F[i] + C[k] * F[i] }",
        "Z[i,l,k] = B[i,l,k] + D[l,k] * E[i]",
        "Z[i,l,k] = B[i,l,k] + G[i,l] * C[k]",
    ],
)
def test_a_factor_goes_on_where_another_one_is_missing(text: str) -> None:
    """Below a row of A where E has nothing, C still has coordinates, and the product zeros."""
    used = [line for name, line in BESIDE.items() if f"{name}[" in text]
    result = "Z[i=6, l=4, k=5]" if "Z[" in text else "Y[i=6, k=5]"
    inner = ["tensor T[i=6, k=5] : csf"] if "T[" in text else []
    program = parse("\n".join([*used, *inner, f"tensor {result} : csf", text]))
    for number in range(12):
        tensors = random_tensors(program, np.random.default_rng(number), -1, 1)
        expected = result_patterns(program, tensors)[result[0]]
        found = run(compile_workload(Workload("random", program, tensors)), tensors).outputs[result[0]]
        assert len(found.vals) <= expected.count({"i": 6, "l": 4, "k": 5})


@pytest.mark.parametrize("empty", ["C", "E", "CE"])
def test_terms_of_other_indices_meet_at_each_point_of_a_mask(empty: str) -> None:
    """Also where one of them, or each, has nothing at all."""
    declared = (
        "tensor S[i=5, k=6] : dense\ntensor C[k=6] : csf\ntensor E[i=5] : csf\ntensor H[i=5, k=6] : csf\n"
    )
    program = parse(f"{declared}tensor Y[i=5, k=6] : csf\nY[i,k] = S[i,k] * C[k] - E[i] where H[i,k]")
    tensors = random_tensors(program, np.random.default_rng(3), 1, 2)
    for name in empty:
        tensors[name] = Tensor.from_dense(np.zeros(tensors[name].shape), tensors[name].format)
    found = run(compile_workload(Workload("masked", program, tensors)), tensors).outputs["Y"]
    held = {name: tensor.to_dense() for name, tensor in tensors.items()}
    wanted = (held["S"] * held["C"] - held["E"][:, None]) * (held["H"] != 0)
    np.testing.assert_array_equal(found.to_dense(), wanted)
    assert len(found.vals) <= result_patterns(program, tensors)["Y"].count({"i": 5, "k": 6})


def pattern(tensor) -> np.ndarray:
    """Where a tensor stores something, be it zero."""
    found = np.zeros(tensor.shape, bool)
    found[tuple(tensor.to_coo()[0])] = True
    return found
