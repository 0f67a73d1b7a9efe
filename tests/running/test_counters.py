"""Counters in the RTL: what each actor spends a run on is what the simulator says."""

from typing import Any

import numpy as np
import pytest

import samhw
from samhw.graph import ConstantMemory, Ports, RandomMemory
from samhw.lang import Program
from samhw.targets.backends import HostRun
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


def _drawn(program: Program) -> dict[str, np.ndarray]:
    """Small numbers for all inputs, half of them zeros."""
    rng = np.random.default_rng(4)
    shapes = {decl.name: [extent or 1 for extent in decl.shape] for decl in program.inputs}
    return {name: rng.integers(-3, 4, shape) * (rng.random(shape) < 0.5) for name, shape in shapes.items()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_actors_spend_is_what_the_simulator_says(program: str) -> None:
    text, value = PROGRAMS[program]
    design = samhw.compile(text, value=value, schedule=SCHEDULES.get(program))
    run = design.host_run(_drawn(design.program))
    wanted = simulated(run)
    assert counted(run, "axi4,counters", times=2) == [wanted, wanted]
    if program == "sums that wait for each other":
        assert sum(spaced for spent in wanted.values() for _, _, _, spaced in spent)
    if program == "arrays in banks":
        assert run.compiled.design.memory["X.vals"].banks == 2


OFF_CHIP = {
    "lines that wait": (SPMM, "i32", ConstantMemory(40, Ports(beat=4, line=16, lines=4, ahead=1)), {}),
    "few places for lines": (SPMM, "f32", RandomMemory(5, Ports(beat=4, line=4, lines=2, ahead=0)), {}),
    "two masters, regions in turns": (
        f"{SPMM}\nS[i, j] = T[i, j] * X[i, j]",
        "i32",
        RandomMemory(7, Ports(beat=8, line=32, lines=8, masters=2)),
        {"fuse": "none"},
    ),
    "equal regions share ports": (
        "tensor A[i=9, k=9] : csr\ntensor v[k=9]\ntensor w[k=9]\n"
        "x[i] = A[i, k] * v[k]\ny[i] = A[i, k] * w[k]",
        "i32",
        ConstantMemory(12, Ports(beat=4, line=8, lines=4, ahead=1)),
        {"fuse": "none"},
    ),
    "regions side by side": (
        *PROGRAMS["regions side by side"],
        ConstantMemory(9, Ports(beat=4, line=8, lines=4, ahead=2)),
        SCHEDULES["regions side by side"],
    ),
    "banks beside a memory": (
        *PROGRAMS["arrays in banks"],
        ConstantMemory(30, Ports(beat=4, line=8, lines=4, ahead=1)),
        {**SCHEDULES["arrays in banks"], "place": {"X": "chip", "T": "ddr"}},
    ),
    "a scan": (*PROGRAMS["a scan"], RandomMemory(1, Ports(beat=4, line=8, lines=4, ahead=1)), {}),
}


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("program", OFF_CHIP)
def test_what_actors_and_ports_spend_beside_a_memory(program: str) -> None:
    text, value, memory, schedule = OFF_CHIP[program]
    design = samhw.compile(text, value=value, schedule=schedule)
    workload = design.bind(_drawn(design.program))
    run = HostRun.of(design.compile_for(workload, memory), workload.tensors)
    wanted = simulated(run, memory)
    assert counted(run, "axi4,counters", times=2, memory=memory) == [wanted, wanted]
    ports = {name: actors for name, actors in wanted.items() if name.endswith((".pos", ".vals"))}
    assert sum(waited for actors in ports.values() for *_, waited in actors)
