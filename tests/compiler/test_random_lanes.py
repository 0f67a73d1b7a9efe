"""Random programs with random lanes: NumPy's results, in channels with no more room than must be.

Five hundred programs and more run on demand:

    SAMHW_RANDOM_LANES=500 python -m pytest tests/compiler/test_random_lanes.py
"""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import ScheduleError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.lang import Program, dumps
from samhw.targets.backends import run
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn
from tests.support.strategies.lanes import random_lanes
from tests.support.strategies.programs import programs

pytestmark = pytest.mark.slow

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_LANES", "100"))
"""How many programs are drawn in all."""
KINDS = {"statements": programs(), "chains": chained_programs(integers=True)}
FLOATS = {"statements": programs(), "chains": chained_programs()}


def compiled_or_none(work: Workload, schedule: Schedule, value: str, arch: Arch) -> Compiled | None:
    try:
        return compile_workload(work, schedule, value=value_type(value), arch=arch)
    except ScheduleError:
        return None


@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("kind", KINDS)
def test_random_lanes(kind: str, value: str) -> None:
    seen: Counter[str] = Counter()
    strategy = (KINDS if value == "i32" else FLOATS)[kind]

    @drawn(PROGRAMS // 4, len(kind) + (value == "f32"))
    @given(strategy, st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        work = Workload("random", program, random_tensors(program, rng))
        level = FUSION_LEVELS[rng.integers(len(FUSION_LEVELS))]
        # Rows that wait are for speed alone: without room for any, nothing may lock.
        arch = Arch(lane_rows=int(rng.choice([0, 1, 64])), lane_tokens=int(rng.choice([0, 1, 1024])))
        plain = compiled_or_none(work, Schedule(fuse=level), value, arch)
        if plain is None:
            return
        lanes = random_lanes(plain, rng)
        laned = compiled_or_none(work, Schedule(fuse=level, lanes=lanes), value, arch)
        if laned is None:
            seen["refused"] += 1
            return
        outputs = run(laned, work.tensors).outputs
        assert check(work, laned, outputs).good, f"{lanes}:\n{dumps(program)}"
        seen["good"] += 1

    body()
    assert seen["good"] >= seen["refused"] > 0, seen
