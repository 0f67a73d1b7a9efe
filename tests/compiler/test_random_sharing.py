"""Random residuals, norms and softmaxes: whatever their uses share, the results are NumPy's, and nothing
deadlocks.

Two thousand programs of each type, and a hundred in RTL, run on demand:

    SAMHW_RANDOM_SHARING=2000 python -m pytest -n 2 tests/compiler/test_random_sharing.py
"""

import os
from collections import Counter
from random import Random

import numpy as np
import pytest

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.oracle.residuals import draw
from tests.support.oracle.written import Written

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_SHARING", "40"))
BATCH = 20
RTL_PROGRAMS = max(1, PROGRAMS // 60)
VALUES = ("i32", "f32", "bf16")
CLOSE = {"i32": 0.0, "f32": 1e-3, "bf16": 0.3}
"""Of the greatest value, as far as the running error bound of the reference does not say it closer."""


def compiled(case: Written, text: str, number: int) -> tuple[Workload, Compiled]:
    """In a way to share that the number says; what that refuses, as the compiler chooses."""
    program = parse(text)
    tensors = {decl.name: Tensor.from_dense(case.inputs[decl.name], decl.format) for decl in program.inputs}
    program = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    workload = Workload("random", program, tensors)
    share = ("auto", "auto", "all", "none")[number % 4]
    try:
        return workload, compile_workload(
            workload, Schedule(share=share, permute=True), value=value_type(case.value)
        )
    except ScheduleError:
        return workload, compile_workload(workload, Schedule(permute=True), value=value_type(case.value))


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("batch", range(PROGRAMS // BATCH))
def test_results_are_numpys(value: str, batch: int) -> None:
    seen = Counter[str]()
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        case, text = draw(number, value)
        workload, design = compiled(case, text, number)
        outputs = run(design, workload.tensors).outputs
        for name in outputs.keys() & case.expected.keys():
            expected = case.expected[name]
            most = CLOSE[value] * max(1.0, float(np.abs(expected).max(initial=0)))
            np.testing.assert_allclose(outputs[name].to_dense(), expected, rtol=0, atol=most, err_msg=text)
        assert check(workload, design, outputs).good, text
        seen.update(c.how for region in design.regions for c in region.computations)
    assert seen.keys() >= {"stream", "buffer"}


ONCE_WRONG = """
tensor O[i=3, h=2] : csr
tensor V[h=2, e=1] : dense
fuse {
  R0[i, e] = O[i, h] * V[h, e]
  R1[i, e] = relu(R0[i, e]) - R0[i, e]
  D2[i, e] = R1[i, e] - 1
  v2[i] = D2[i, e] * D2[i, e]
}
fuse {
  N2[i, e] = D2[i, e] * v2[i]
  R2[i, e] = N2[i, e] + R0[i, e]
  Y[i, e] = R2[i, e] + R2[i, e]
}
"""


def test_an_intermediate_that_is_a_result_too() -> None:
    """An intermediate and the result of its name had one cell of the fusion table."""
    o, v = np.array([[1, 0], [0, -2], [3, 1]]), np.array([[2], [-1]])
    case = Written("i32", Random(0), inputs={"O": o, "V": v})
    workload, design = compiled(case, ONCE_WRONG, 0)
    r = o @ v
    d = np.maximum(r, 0) - r - 1
    outputs = run(design, workload.tensors).outputs
    np.testing.assert_array_equal(outputs["Y"].to_dense(), 2 * (d * (d * d).sum(1, keepdims=True) + r))


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("value", VALUES)
def test_rtl_agrees(value: str) -> None:
    for number in range(RTL_PROGRAMS):
        case, text = draw(10_000 + number, value)
        workload, design = compiled(case, text, number)
        model, rtl = (run(design, workload.tensors, backend) for backend in ("sim", "verilator"))
        assert [r.cycles for r in rtl.regions] == [r.cycles for r in model.regions], text
        for name, tensor in model.outputs.items():
            np.testing.assert_array_equal(rtl.outputs[name].to_dense(), tensor.to_dense(), err_msg=text)
