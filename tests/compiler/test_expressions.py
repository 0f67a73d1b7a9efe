"""Random programs against an oracle (`tests.support.oracle`) that shares nothing with the compiler or its
reference.

Twenty thousand of them run on demand:

    SAMHW_RANDOM_PROGRAMS=20000 python -m pytest -n auto tests/compiler/test_expressions.py
"""

import os
from collections import Counter

import pytest

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import run
from tests.support.oracle.case import Case, compile_case, draw_case

pytestmark = pytest.mark.slow

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_PROGRAMS", "480"))
SHARDS = 8
LEAST_RUN = 0.3
"""Of the programs of a shard; the others break a rule of the language or of streams."""


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_programs_mean_what_the_oracle_says(shard: int) -> None:
    """In the reference, in the simulator and for the check, whatever formats, fusion and iteration."""
    seen: Counter[str] = Counter()
    for number in range(shard, PROGRAMS, SHARDS):
        case = draw_case(number)
        seen["refused" if case is None else outcome(case)] += 1
    assert seen["run"] >= LEAST_RUN * sum(seen.values()), seen


def outcome(case: Case) -> str:
    dense = {name: tensor.to_dense() for name, tensor in case.tensors.items()}
    for name, array in evaluate_program(case.parsed, dense).items():
        case.compare(name, array)
    graphs = compile_case(case)
    if graphs is None:
        return "refused"
    outputs = run(graphs, case.tensors, engine="plain").outputs
    # Fusion keeps some results to itself, and permuted copies are results of the compiler's own.
    for name in case.expected.keys() & outputs.keys():
        case.compare(name, outputs[name].to_dense())
    found = check(Workload("random", case.parsed, case.tensors), graphs, outputs)
    assert found.good or case.is_open, f"the check takes the result for wrong:\n{case}"
    return "run"
