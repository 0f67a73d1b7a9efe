"""Builds of split programs in a folder of their own, run by a host that has the user's data alone."""

from pathlib import Path

import numpy as np
import pytest

from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.graph.numerics import value_type
from samhw.targets.backends import HostRun, build
from samhw.tensors import Tensor
from tests.hls.test_models import csim
from tests.support.built import run_program
from tests.support.thorough import THOROUGH

SCHEDULES = [
    Schedule(split={"A": "columns(2)"}, permute_rows={"A": "by length"}),
    *(
        [Schedule(split={"A": "hyb(1,2)"}), Schedule(split={"A": "even(2)"}, lanes={"i": 4})]
        if THOROUGH
        else []
    ),
]


def data(seed: int) -> dict[str, Tensor]:
    """Of one room, whatever the seed: each matrix has as many entries."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(24 * 20)[:100]
    a = np.zeros(24 * 20)
    a[places] = rng.integers(1, 9, 100)
    x = rng.integers(-4, 5, (20, 3)).astype(float)
    return {"A": Tensor.from_dense(a.reshape(24, 20), "csr"), "X": Tensor.from_dense(x, "dense")}


def compiled_for(schedule: Schedule) -> tuple[Compiled, Workload]:
    """Room for each of the first data sets."""
    program = bind_program("spmm", ["karate"]).program.unbound
    workloads = [Workload("given", program, data(seed)) for seed in range(3)]
    capacity = workloads[0].capacity(schedule)
    for other in workloads[1:]:
        capacity |= other.capacity(schedule)
    compiled = compile_workload(workloads[0], schedule, value=value_type("i32"), capacity=capacity)
    return compiled, workloads[0]


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_a_host_runs_a_build_on_other_data(schedule: Schedule, tmp_path: Path) -> None:
    """Of a Verilator build nothing but its folder is used, and of samhw the function that makes words."""
    compiled, workload = compiled_for(schedule)
    build(compiled, "verilator", tmp_path / "out", workload.tensors)
    derived = (tmp_path / "out" / "derived.txt").read_text()
    for part in compiled.recipes:
        assert f"{part}: of A " in derived
    for seed in range(3):
        tensors = data(seed)
        host = HostRun.of(compiled, tensors)
        for kind, words in (("", host.inputs.memories), ("extent_", host.inputs.extents)):
            for name, held in words.items():
                path = tmp_path / "out" / "data" / f"{kind}{name}.bin"
                assert path.exists()
                np.asarray(held).astype("<u4").tofile(path)
        run_program(tmp_path / "out")
        found = {
            path.name.removesuffix(".bin"): np.fromfile(path, "<i4").astype(np.int64)
            for path in (tmp_path / "out" / "results").iterdir()
        }
        wanted = tensors["A"].to_dense() @ tensors["X"].to_dense()
        assert np.array_equal(host.results(found)["T"].to_dense(), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
def test_a_project_of_hls_has_the_parts_as_data(schedule: Schedule, tmp_path: Path) -> None:
    """Its testbench finds the golden results, which are those of NumPy."""
    compiled, workload = compiled_for(schedule)
    build(compiled, "vitis-hls", tmp_path / "out", workload.tensors)
    assert csim(tmp_path / "out").endswith(": PASS\n")
    host = HostRun.of(compiled, workload.tensors)
    golden = {
        name: np.loadtxt(path, np.int64, ndmin=1)
        for graph in compiled.design.runs
        for name in graph.memory
        if (path := tmp_path / "out" / "tb_data" / f"{name.replace('.', '_')}.txt").exists()
    }
    wanted = workload.tensors["A"].to_dense() @ workload.tensors["X"].to_dense()
    assert np.array_equal(host.results(golden)["T"].to_dense(), wanted)
