"""What graphs store lies within the pattern from which the memories of a result are sized."""

import numpy as np
import pytest

from samhw.backends import run
from samhw.frontend import parse, result_patterns
from samhw.schedule import Schedule
from samhw.tensors import Tensor
from samhw.workload import Workload, compile_workload
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


def pattern(tensor) -> np.ndarray:
    """Where a tensor stores something, be it zero."""
    found = np.zeros(tensor.shape, bool)
    found[tuple(tensor.to_coo()[0])] = True
    return found
