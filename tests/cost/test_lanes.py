"""Estimates of designs with lanes count the busiest one."""

import numpy as np
import pytest

from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.lang import load_kernel
from samhw.targets.backends import run
from samhw.tensors import Tensor


def uneven() -> Workload:
    """SpMM with long rows that meet in one of four lanes."""
    array = np.zeros((48, 64), np.int64)
    array[::4, :40] = 1
    array[:, 0] = 1
    dense = Tensor.from_dense(np.ones((64, 16), np.int64), "dense")
    return Workload("uneven", load_kernel("spmm").unbound, {"A": Tensor.from_dense(array, "csr"), "X": dense})


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(lanes={"i": 4}),
        Schedule(lanes={"i": 2, "k": 2}),
        Schedule(lanes={"i": 4}, permute_rows={"A": "even(4)"}),
        Schedule(lanes={"i": 4}, split={"A": "even(4)"}),
        Schedule(lanes={"i": 6}, split={"A": "hyb(1,5)"}),
        Schedule(lanes={"i": 8}, deal={"i": "ranges"}),
        Schedule(lanes={"i": 40}, deal={"i": "ranges"}),
    ],
    ids=str,
)
def test_the_busiest_lane_is_estimated(schedule: Schedule) -> None:
    workload = uneven()
    compiled = compile_workload(workload, schedule)
    expected = estimate_compiled(compiled, workload.statistics(schedule=schedule)).cycles
    assert expected == pytest.approx(run(compiled, workload.tensors).cycles, rel=0.15)


def test_work_is_that_of_all_lanes() -> None:
    workload = uneven()
    whole, dealt = (
        estimate_compiled(compile_workload(workload, schedule), workload.statistics())
        for schedule in (Schedule(), Schedule(lanes={"i": 4}))
    )
    assert dealt.operations == whole.operations
