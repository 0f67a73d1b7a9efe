"""Counters in the RTL: what each actor spends a run on is what the simulator says."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.graph import HostOptions
from tests.support.spent import counted, simulated

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SPMM = "tensor A[i=12, k=12] : csr\ntensor X[k=12, j=6] : dense\nT[i, j] = A[i, k] * X[k, j]"
PROGRAMS = {
    "a vector reducer": (SPMM, "i32"),
    "sums that wait for each other": ("tensor A[i=9, j=4] : csr\nx[j] = A[i, j]    order i, j", "f32"),
    "several regions, sums of blocks": (
        f"{SPMM}\nS[i] = T[i, j]\nY[i] = exp(S[i])",
        "f32",
    ),
    "two inputs and an inner product": (
        "tensor A[i=9, k=9] : csr\ntensor B[j=9, k=9] : csr\nY[i, j] = A[i, k] * B[j, k]",
        "i32",
    ),
    "regions side by side": (
        "tensor A[i=9, k=9] : csr\ntensor B[i=9, k=9] : csr\ntensor v[k=9]\n"
        "x[i] = A[i, k] * v[k]\ny[i] = B[i, k] * v[k]\n"
        "z[i] = A[i, k] * y[k] + x[i]\nu[i] = exp(x[i])\nw[i] = exp(y[i])\ns = u[i] * w[i]",
        "f32",
    ),
    "arrays in banks": (
        "tensor A[i=13, k=9] : csr\ntensor X[k=9, j=7] : dense\nT[i, j] = A[i, k] * X[k, j]    order i, k, j",
        "i32",
    ),
    "a scan": (
        "index i=3\ntensor A[t=5, i=3] : dense\ntensor H[t=5, i=3] : dense\n"
        "scan t {\n  H[t, i] = H[t - 1, i] * 0.5 + A[t, i]\n}\ny[i] = H[t, i]",
        "f32",
    ),
}
SCHEDULES: dict[str, dict[str, Any]] = {
    "regions side by side": {"fuse": "none", "parallel": "all"},
    "arrays in banks": {"lanes": {"i": 3}, "interleave": "all"},
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_actors_spend_is_what_the_simulator_says(program: str) -> None:
    text, value = PROGRAMS[program]
    rng = np.random.default_rng(4)
    design = samhw.compile(text, value=value, schedule=SCHEDULES.get(program))
    data = {
        name: rng.integers(-3, 4, [extent or 1 for extent in decl.shape])
        * (rng.random([extent or 1 for extent in decl.shape]) < 0.5)
        for name, decl in design.program.tensors.items()
        if decl in design.program.inputs
    }
    run = design.host_run(data)
    wanted = simulated(run)
    assert counted(run, HostOptions.parse("axi4,counters"), times=2) == [wanted, wanted]
    if program == "sums that wait for each other":
        assert sum(spaced for spent in wanted.values() for _, _, _, spaced in spent)
    if program == "arrays in banks":
        assert run.compiled.design.memory["X.vals"].banks == 2
