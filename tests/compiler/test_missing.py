"""Where a factor is missing at a row outside, a compressed result does not hold what the other factors have
inside: no more than there is in the operands, for which memories are sized.

A long run on demand: SAMHW_RANDOM_SIZES=2000 python -m pytest tests/compiler/test_missing.py
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.errors import ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, parse
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.programs import programs

RUNS = int(os.environ.get("SAMHW_RANDOM_SIZES", "30"))

SHAPES = {"B": (4,), "C": (3, 4), "D": (6,), "F": (6,), "E": (6, 4)}

INDICES = {"B": "[k=4]", "C": "[i=3, k=4]", "D": "[l=6]", "F": "[l=6]", "E": "[l=6, k=4]"}

STATEMENTS = [
    "X[l, k] = B[k] * D[l] - E[l, k]    order l, k",
    "X[l, k] = D[l] * (B[k] * F[l]) + E[l, k]    order l, k",
    "X[l, k] = C[i, k] * D[l] - E[l, k]    order l, i, k",
    "X[l, k] = B[k] * (D[l] + F[l]) + E[l, k]    order l, k",
    "X[l, k] = B[k] * D[l] + B[k] * F[l]    order l, k",
]


@pytest.mark.parametrize(
    "formats", [("csf", "csr", "csr"), ("dense", "dense", "dcsr"), ("csf", "dcsr", "csr")]
)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_factor_that_is_missing_outside(statement: str, formats: tuple[str, str, str]) -> None:
    vector, matrix, result = formats
    stored = {"B": vector, "C": matrix, "D": "csf", "F": "csf", "E": "csr"}
    rng = np.random.default_rng(3)
    tensors = {
        name: Tensor.from_dense(rng.integers(1, 9, shape) * (rng.random(shape) < 0.5), stored[name])
        for name, shape in SHAPES.items()
        if f"{name}[" in statement
    }
    used = "".join(f"tensor {name}{INDICES[name]} : {stored[name]}\n" for name in tensors)
    program = parse(f"{used}tensor X[l=6, k=4] : {result}\n{statement}\n")
    workload = Workload("given", program, tensors)
    compiled = compile_workload(workload, value=value_type("i32"))
    found = run(compiled, tensors)
    assert check(workload, compiled, found.outputs).good
    whole = found.outputs["X"].to_dense()
    assert found.outputs["X"].nnz == np.count_nonzero(whole) < whole.size


@given(data=st.data(), program=st.one_of(programs(), chained_programs()), seed=st.integers(0, 1 << 30))
@settings(max_examples=RUNS, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_memories_of_the_size_of_the_data_are_enough(
    data: st.DataObject, program: Program, seed: int
) -> None:
    workload = Workload("random", program, random_tensors(program, np.random.default_rng(seed)))
    schedule = Schedule(fuse=data.draw(st.sampled_from(FUSION_LEVELS)), permute=True)
    try:
        compiled = compile_workload(workload, schedule, value=value_type("i32"))
    except ScheduleError:
        reject()
    found = run(compiled, workload.tensors, engine="plain")
    assert check(workload, compiled, found.outputs).good
