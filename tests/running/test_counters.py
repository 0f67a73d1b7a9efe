"""Counters in the RTL: what each actor spends a run on is what the simulator says."""

from collections.abc import Mapping

import numpy as np
import pytest

import samhw
from samhw.graph import HostOptions
from samhw.sim import Result, simulate_regions
from samhw.targets.running.driver import VerilatedDesign

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
    "a scan": (
        "index i=3\ntensor A[t=5, i=3] : dense\ntensor H[t=5, i=3] : dense\n"
        "scan t {\n  H[t, i] = H[t - 1, i] * 0.5 + A[t, i]\n}\ny[i] = H[t, i]",
        "f32",
    ),
}
Spent = list[tuple[int, int, int, int]]


def simulated(result: Result) -> Mapping[str, Spent]:
    return {
        node: sorted(
            (a.firings, sum(a.starved.values()), sum(a.blocked.values()), a.spaced)
            for a in stats.actors.values()
        )
        for node, stats in result.nodes.items()
    }


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_actors_spend_is_what_the_simulator_says(program: str) -> None:
    text, value = PROGRAMS[program]
    rng = np.random.default_rng(4)
    design = samhw.compile(text, value=value)
    data = {
        name: rng.integers(-3, 4, [extent or 1 for extent in decl.shape])
        * (rng.random([extent or 1 for extent in decl.shape]) < 0.5)
        for name, decl in design.program.tensors.items()
        if decl in design.program.inputs
    }
    run = design.host_run(data)
    made, arch = run.compiled.design, run.compiled.arch
    results = simulate_regions(made, arch, dict(run.inputs.memories), run.inputs.extents)
    wanted = {
        made.label(region, node): spent
        for region, result in zip(made.turns, results, strict=True)
        for node, spent in simulated(result).items()
    }
    rtl = VerilatedDesign.build(made, arch, host=HostOptions.parse("axi4,counters"))
    with rtl.session() as session:
        for _ in range(2):
            session.run(*run.inputs)
            found = {
                node: sorted(tuple(a.values()) for a in actors) for node, actors in session.spent().items()
            }
            assert found == wanted
    if program == "sums that wait for each other":
        assert sum(spaced for spent in wanted.values() for _, _, _, spaced in spent)
