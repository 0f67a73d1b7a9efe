"""Named latency profiles: simulator and RTL agree under each of them that the RTL can have."""

import numpy as np
import pytest

from samhw.app.workload import bind_program, compile_workload
from samhw.graph import Arch
from samhw.targets.backends import find_backend, run

PROFILES = [name for name in Arch.profiles() if not Arch.load(name).fanout and Arch.load(name) != Arch()]


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("name", PROFILES)
def test_simulator_and_rtl_agree(name: str) -> None:
    workload = bind_program("residual", ["random:size=10,density=0.3,seed=5"])
    compiled = compile_workload(workload, arch=Arch.load(name))
    model = run(compiled, workload.tensors)
    rtl = run(compiled, workload.tensors, find_backend("verilator"))
    assert rtl.cycles == model.cycles
    for tensor, expected in model.outputs.items():
        np.testing.assert_array_equal(rtl.outputs[tensor].to_dense(), expected.to_dense())
