"""Degree constraints are never exceeded: the operations and bytes that follow from them are enough.

Two thousand programs run on demand: SAMHW_RANDOM_PROGRAMS=2000 python -m pytest tests/cost/test_bounds.py
"""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.checking.measure import measure_compiled
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.errors import RunError, ScheduleError
from samhw.graph.numerics import Float
from samhw.lang import Program, parse
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
        assert most.bytes_written >= taken.bytes_written
        checked.append(program)

    body()
    assert len(checked) > PROGRAMS / 2


TWICE = """tensor A[k=8, l=2, j=7] : (compressed, dense, compressed)
tensor T[l, k, j] : (dense, compressed, compressed) @ (1, 0, 2)
tensor Y[k, n, j] : (dense, dense, compressed)
T[l, k, j] = 2 * A[k, l, j] order k, l, j
Y[k, n, j] = concat(n, T[n, k, j], T[n, k, j]) order k, n, j"""
NESTED = """tensor A[i=3, j=5] : csr
tensor B[i=4, j=5] : csr
tensor C[i=2, j=5] : csr
T[i, j] = concat(i, A[i, j], B[i, j])
Y[i, j] = concat(i, C[i, j], T[i, j])"""


@pytest.mark.parametrize("fuse", ["none", "full"])
@pytest.mark.parametrize("text", [TWICE, NESTED])
def test_parts_of_a_concatenation_count_where_they_lie(text: str, fuse: FusionLevel) -> None:
    program = parse(text, "parts")
    work = Workload("parts", program, random_tensors(program, np.random.default_rng(2)))
    compiled = compile_workload(work, value=Float("f32"), schedule=Schedule(fuse=fuse))
    taken = measure_compiled(work, compiled)
    assert estimate_compiled(compiled, work.statistics("exact")).operations == taken.operations
    assert estimate_compiled(compiled, work.statistics("degrees")).operations >= taken.operations
