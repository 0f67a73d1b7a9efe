"""Reshapes and concatenations: simulator, RTL and HLS agree, on one build for data of several shapes;
aliases of an input and of a buffer among them."""

import numpy as np
import pytest

from samhw.app.checking.check_run import check
from samhw.app.checking.model_and_rtl import correlate
from samhw.app.workload import Workload, compile_workload
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor

PROGRAM = parse("""
tensor A[i, a] : csr
tensor B[i, b] : dense
tensor C[i, c] : csr
tensor V[u] : dense
tensor R[p, h=2] : dense
tensor D[u] : dense
tensor E[p] : dense
V[u] = reshape(B[i, b])
D[u] = V[u] * V[u]
C[i, j] = concat(j, B[i, j], A[i, j], B[i, j])
fuse {
  S[i, c] = concat(i, C[i, c], C[i, c])
  T[s, c] = 2 * S[s, c]
}
R[p, h] = reshape(T[s, c])
E[p] = R[p, h]
""")


def workload(i: int, a: int, b: int, seed: int) -> Workload:
    rng = np.random.default_rng(seed)
    tensors = {
        name: Tensor.from_dense(
            rng.integers(-9, 9, shape) * (rng.random(shape) < 0.6), PROGRAM.tensors[name].format
        )
        for name, shape in (("A", (i, a)), ("B", (i, b)))
    }
    program = PROGRAM.bind({name: tensor.shape for name, tensor in tensors.items()})
    return Workload(f"{i} {a} {b}", program, tensors)


WORKLOADS = [workload(4, 6, 3, 0), workload(3, 5, 4, 1), workload(1, 1, 1, 2)]


@pytest.mark.slow
@pytest.mark.verilator
def test_rtl() -> None:
    assert correlate([WORKLOADS], jobs=1).good


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_hls(value: str) -> None:
    compiled = compile_workload(WORKLOADS[0], value=value_type(value))
    for work in (WORKLOADS[0], WORKLOADS[2]):
        assert check(work, compiled, run(compiled, work.tensors, "hls").outputs).good
