"""Random programs whose operands have levels of every kind, in the simulator, as RTL and as HLS.

Many of each, instead of the few of a quick run:

    SAMHW_RANDOM_LEVELS=500 python -m pytest tests/compiler/test_random_levels.py
"""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, dumps, parse
from samhw.targets.backends import run
from tests.support.program_cases import random_tensors
from tests.support.strategies.drawn import drawn
from tests.support.strategies.programs import programs

RUNS = int(os.environ.get("SAMHW_RANDOM_LEVELS", "0"))
"""How many programs are drawn for each backend; 0 for a few."""

MOST_NODES = 30
"""Of a design that is built, as large ones take minutes."""


def is_new(program: Program) -> bool:
    """An operand has one of the levels that inputs alone have."""
    return any(decl.format != decl.format.of_result for decl in program.operands)


@given(program=programs(every_level=True), seed=st.integers(0, 1 << 30))
@settings(
    max_examples=RUNS or 25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_every_level_gives_the_results_of_numpy(program: Program, seed: int) -> None:
    assume(is_new(program))
    assert parse(dumps(program)) == program
    workload = Workload("random", program, random_tensors(program, np.random.default_rng(seed)))
    try:
        compiled = compile_workload(workload, value=value_type("i32"))
    except ScheduleError:
        assume(False)
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(("backend", "kind"), [("verilator", "i32"), ("hls", "f32")])
def test_every_level_in_hardware(backend: str, kind: str) -> None:
    seen: Counter[str] = Counter()

    @drawn(RUNS or 3, 5)
    @given(programs(every_level=True), st.integers(0, 1 << 30))
    def agrees(program: Program, seed: int) -> None:
        assume(is_new(program))
        workload = Workload("random", program, random_tensors(program, np.random.default_rng(seed)))
        try:
            compiled = compile_workload(workload, value=value_type(kind))
        except ScheduleError:
            assume(False)
        assume(len(compiled.design.nodes) < MOST_NODES)
        model, found = (run(compiled, workload.tensors, chosen) for chosen in ("sim", backend))
        assert check(workload, compiled, model.outputs).good
        for name, wanted in model.outputs.items():
            assert np.array_equal(found.outputs[name].to_dense(), wanted.to_dense())
        if backend == "verilator":
            assert found.cycles == model.cycles
        seen.update(node.kind for _, node in compiled.design.nodes if node.spec.scans)

    agrees()
    assert {"scan_ell", "scan_ragged", "scan_dia"} & seen.keys()
