"""Degree constraints are never exceeded: the operations and bytes that follow from them are enough.

Two thousand programs run on demand: SAMHW_RANDOM_PROGRAMS=2000 python -m pytest tests/cost/test_bounds.py
"""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.checking.measure import measure_compiled
from samhw.compiler import estimate_compiled
from samhw.errors import RunError, ScheduleError
from samhw.frontend import Program
from samhw.numerics import Float
from samhw.workload import Workload, compile_workload
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_PROGRAMS", "60"))


@pytest.mark.slow
def test_degree_constraints_hold() -> None:
    checked = []

    @drawn(PROGRAMS, 0)
    @given(chained_programs(integers=False, max_extent=8), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        work = Workload("random", program, random_tensors(program, np.random.default_rng(number)))
        try:
            compiled = compile_workload(work, value=Float("f32"))
            taken = measure_compiled(work, compiled)
        except (ScheduleError, RunError):
            return
        most = estimate_compiled(compiled, work.statistics("degrees"))
        assert most.operations >= taken.operations
        assert most.bytes_read >= taken.bytes_read
        checked.append(program)

    body()
    assert len(checked) > PROGRAMS / 2
