"""Names change nothing: a program with any others gives the same results in the same cycles.

Ten thousand programs run on demand: SAMHW_RANDOM_PROGRAMS=10000 python -m pytest tests/compiler/test_names.py
"""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.iteration import Iteration
from samhw.choices.schedule import Schedule
from samhw.errors import ScheduleError
from samhw.graph import validate_design
from samhw.graph.numerics import value_type
from samhw.lang import Program, dumps, parse
from samhw.targets.backends import RunResult, run
from tests.support.hostile import WORDS, renamed, renamed_data
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_PROGRAMS", "120"))
"""How many programs are drawn in all."""
SHARDS = 4


def result(work: Workload, **options: object) -> RunResult | None:
    """What the simulator gives, or None for a schedule that is refused."""
    try:
        compiled = compile_workload(work, **options)
    except ScheduleError:
        return None
    validate_design(compiled.design)
    for region in compiled.regions:
        assert len(set(region.table.rows)) == len(region.table.rows)
        region.table.grid()
    found = run(compiled, work.tensors)
    assert check(work, compiled, found.outputs).good
    return found


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_names(shard: int) -> None:
    seen: Counter[bool] = Counter()

    @drawn(PROGRAMS // SHARDS, shard)
    @given(
        chained_programs(max_statements=4, concordant=shard % 2 == 0),
        st.sampled_from(FUSION_LEVELS),
        st.integers(0, 2**32 - 1),
    )
    def body(program: Program, level: str, number: int) -> None:
        rng = np.random.default_rng(number)
        iteration: Iteration = "factored" if rng.random() < 0.8 else "global"
        schedule = Schedule(permute=shard % 2 == 1, iteration=iteration)
        program = Schedule(fuse=level).apply(program)
        other, names = renamed(program, rng)
        assert parse(dumps(other)) == other
        tensors = random_tensors(program, rng)
        before = result(Workload("random", program, tensors), value=value_type("i32"), schedule=schedule)
        after = result(
            Workload("random", other, renamed_data(tensors, names)),
            value=value_type("i32"),
            schedule=schedule,
        )
        seen[before is None] += 1
        if before is None or after is None:
            assert before is after, dumps(other)
            return
        assert before.cycles == after.cycles, dumps(other)
        for name, tensor in before.outputs.items():
            if name in names:
                assert np.array_equal(tensor.to_dense(), after.outputs[names[name]].to_dense()), dumps(other)

    body()
    assert seen[False] > seen[True]


@pytest.mark.parametrize(
    "text",
    [
        "tensor t0[i, val] : csr\ntensor t1[val] : dense\ny[i] = t0[i, val] * t1[val]",
        "tensor A[i, k] : csr\ntensor A_2[k, j] : csr\ny[i, j] = A[i, k] * A_2[k, j] * A[i, j]",
        "tensor sorted[i, k] : csr\ntensor y[k, i] : csr\ny[k, i] = sorted[i, k]",
        "tensor once[i, k] : csr\ntensor y[k, i] : csr\ny[k, i] = once[i, k]",
    ],
)
def test_names_of_the_compilers_own(text: str) -> None:
    assert result(make_workload(parse(text)), schedule=Schedule(permute=True)) is not None


@pytest.mark.parametrize("word", WORDS)
def test_one_name_for_everything(word: str) -> None:
    """Tensor and index of one name; a tensor and an index that the compiler names after it."""
    text = (
        f"tensor {word}[{word}, q] : csr\ntensor q[q] : csf\nfuse {{\ny[{word}] = {word}[{word}, q] * q[q]\n"
    )
    text += f"z[{word}] = y[{word}] * {word}[{word}, q]\n}}"
    assert result(make_workload(parse(text))) is not None
