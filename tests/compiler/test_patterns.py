"""What graphs store lies within the pattern from which the memories of a result are sized."""

import numpy as np
import pytest

from samhw.frontend import evaluate_program, parse
from samhw.targets import Workload, compile_workload, run
from tests.agreement.cases import random_tensors

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
        patterns = {name: pattern(tensor) for name, tensor in tensors.items()}
        expected = evaluate_program(program, patterns, pattern=True)["Y"]
        outputs = run(compile_workload(Workload("random", program, tensors)), tensors).outputs
        found = pattern(outputs["Y"])
        assert not (found & ~expected).any()
        stored += np.count_nonzero(found)
    assert stored or "0 * " in statement


def pattern(tensor) -> np.ndarray:
    """Where a tensor stores something, be it zero."""
    found = np.zeros(tensor.shape, bool)
    found[tuple(tensor.to_coo()[0])] = True
    return found
