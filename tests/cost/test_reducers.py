"""The expected cycles of vector reducers, whose values of one coordinate wait for each other."""

import numpy as np
import pytest

import samhw
from samhw.compiler import estimate_compiled

FEW = "tensor A[k, i, l] : csf @ (0, 1, 2)\ny[k, l] = A[k, i, l]    order k, i, l"


@pytest.mark.parametrize("places", [1, 2, 5, 40])
def test_sums_of_few_places_wait_for_each_other(places: int) -> None:
    """Each row has all places: with one, an f32 sum takes seven cycles a value, with many one."""
    design = samhw.compile(FEW, value="f32")
    result = design.run(A=np.ones((6, 20, places)))
    expected = estimate_compiled(design.compiled, result.workload.statistics("exact")).cycles
    assert expected == pytest.approx(result.cycles, rel=0.1)
