"""How far results are from float64: worked out by hand."""

from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest

from samhw.app.checking import Difference, differences
from samhw.app.workload import Workload
from samhw.lang import parse
from samhw.tensors import Tensor

EXACT = np.array([[3.0, 0.0], [4.0, 5.0]])


def difference(stored: Any, exact: Any = EXACT, format: str = "dense") -> Difference:
    """Of a result T that is a copy of A."""
    program = parse(f"tensor A[i=2, j=2] : dense\ntensor T[i, j] : {format}\nT[i, j] = A[i, j]\n")
    workload = Workload("data", program, {"A": Tensor.from_dense(np.asarray(exact), "dense")})
    return differences(workload, {"T": Tensor.from_dense(np.asarray(stored), format)})["T"]


def test_what_is_equal() -> None:
    assert difference(EXACT) == Difference(0.0, 0.0, 0.0, 1.0)
    assert difference(EXACT).signal_to_noise == inf


def test_errors() -> None:
    found = difference([[3.0, 1.0], [4.0, 3.0]])
    assert found.max_abs_error == 2
    assert found.rms_error == pytest.approx(sqrt(5 / 4))
    assert found.relative_error == pytest.approx(sqrt(5 / 50))
    assert found.signal_to_noise == pytest.approx(10)
    assert found.same_argmax == 0.5


def test_a_greatest_element_may_be_any_of_several() -> None:
    assert difference([[1, 0], [0, 1]], [[2, 2], [2, 2]]).same_argmax == 1


@pytest.mark.parametrize("stored", [nan, inf])
def test_what_is_no_number_is_infinitely_far(stored: float) -> None:
    found = difference([[3.0, stored], [4.0, 5.0]])
    assert (found.max_abs_error, found.relative_error, found.signal_to_noise) == (inf, inf, -inf)


def test_what_is_no_number_there_either_is_no_error() -> None:
    exact = [[3.0, nan], [inf, 4.0]]
    assert difference(exact, exact).max_abs_error == 0
    assert difference([[3.0, nan], [inf, 5.0]], exact).relative_error == pytest.approx(1 / 5)


def test_zeros_alone() -> None:
    nothing = np.zeros((2, 2))
    assert difference(nothing, nothing).relative_error == 0
    assert difference(EXACT, nothing).relative_error == inf


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sparse_results_have_no_rows_to_compare(format: str) -> None:
    found = difference([[3.0, 1.0], [0.0, 5.0]], format=format)
    assert found == Difference(4.0, sqrt(17 / 4), sqrt(17 / 50), None)
