"""Values that are zero go where results are stored without them: expected of what inputs and results show."""

import numpy as np
import pytest

from samhw.app.checking.measure import measure_compiled
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.graph.numerics import Float
from samhw.lang import parse
from samhw.tensors import Tensor

PROGRAM = """tensor a[l=13] : dense
tensor b[l=13] : dense
tensor B[l=13, j=6, i=15] : dense @ (1, 2, 0)
tensor t[l] : csf
tensor u[l] : csf
tensor v[l] : csf
tensor y
t[l] = a[l] * 0.5
u[l] = relu(t[l]) + a[l]
v[l] = u[l] * b[l]
y = v[l] * B[l, j, i]    order j, i, l"""


@pytest.mark.parametrize("fuse", [(("t", "u", "v"), ("y",)), (("t",), ("u",), ("v",), ("y",))])
@pytest.mark.parametrize("stored", [0, 2, 13])
def test_zeros_of_dense_inputs(fuse: tuple[tuple[str, ...], ...], stored: int) -> None:
    """A product is zero where a factor is, a sum where all of its terms are, a rectifier where its operand
    is."""
    a = np.where(np.arange(13) < stored, 1.0, 0.0)
    arrays = {"a": a, "b": np.ones(13), "B": np.ones((13, 6, 15))}
    program = parse(PROGRAM)
    tensors = {n: Tensor.from_dense(x, program.tensors[n].format) for n, x in arrays.items()}
    workload = Workload("zeros", program.bind({n: t.shape for n, t in tensors.items()}), tensors)
    compiled = compile_workload(workload, Schedule(fuse=fuse), value=Float("f32"))
    taken = measure_compiled(workload, compiled)
    found = estimate_compiled(compiled, workload.statistics())
    assert found.operations == taken.operations
    assert found.bytes == taken.bytes_read + taken.bytes_written
    assert found.cycles == pytest.approx(taken.cycles, rel=0.05)
