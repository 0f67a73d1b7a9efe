"""Random programs under random splits, as RTL and as HLS: the simulator's results and cycles.

SAMHW_RANDOM_SPLITS=60 python -m pytest tests/splits/test_hardware.py
"""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program
from samhw.targets.backends import run
from tests.splits.test_random import partial_sums, row_orders, splits
from tests.support.program_cases import random_tensors
from tests.support.strategies.drawn import drawn
from tests.support.strategies.programs import programs

RUNS = int(os.environ.get("SAMHW_RANDOM_SPLITS", "2"))
"""How many programs are drawn for each backend."""

MOST_NODES = 45
"""Of a design, as large ones take minutes to build."""


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(("backend", "kind"), [("verilator", "i32"), ("hls", "f32")])
def test_random_splits_in_hardware(backend: str, kind: str) -> None:
    seen: Counter[str] = Counter()

    @drawn(RUNS, 5)
    @given(st.data(), programs(), st.integers(0, 1 << 30))
    def agrees(data: st.DataObject, program: Program, seed: int) -> None:
        workload = Workload("random", program, random_tensors(program, np.random.default_rng(seed)))
        schedule = Schedule(
            split=data.draw(splits(program)),
            partial_sums=data.draw(st.just("auto") | partial_sums(program)),
            permute_rows=data.draw(row_orders(program)),
            permute=True,
        )
        try:
            compiled = compile_workload(workload, schedule, value=value_type(kind))
        except ScheduleError:
            assume(False)
        assume(len(compiled.design.nodes) < MOST_NODES)
        model, found = (run(compiled, workload.tensors, chosen) for chosen in ("sim", backend))
        assert check(workload, compiled, model.outputs).good
        for name, wanted in model.outputs.items():
            assert np.array_equal(found.outputs[name].to_dense(), wanted.to_dense())
        if backend == "verilator":
            assert found.cycles == model.cycles
        seen.update(schedule.split.values())

    agrees()
    assert seen
