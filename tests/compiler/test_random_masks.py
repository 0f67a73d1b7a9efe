"""Random masks that the program computes, under every reduction and format: the results are the oracle's, and
RTL agrees to the cycle.

Five thousand programs, and a hundredth of that many in RTL, run on demand:

    SAMHW_RANDOM_MASKS=5000 python -m pytest -n 2 tests/compiler/test_random_masks.py
"""

import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from samhw.compiler import Compiled
from samhw.targets.backends import run
from tests.support.oracle.case import Case, compile_case, draw_case
from tests.support.oracle.masks import draw_masked_program
from tests.support.strategies.lanes import random_lanes

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_MASKS", "160"))
SHARDS = 4
RTL_PROGRAMS = max(2, PROGRAMS // 100)
LEAST_NODES = 12
LEAST_RUN = 0.6
"""Of the programs of a shard; the others break a rule, or have storage against every order."""


def compiled_case(number: int) -> tuple[Case, Compiled] | None:
    """A case and how it is compiled, a fifth of them with lanes; None for what is refused."""
    case = draw_case(number, draw_masked_program)
    if case is None:
        return None
    share = ("auto", "auto", "all", "none")[number // SHARDS % 4]
    case = replace(case, schedule=replace(case.schedule, share=share))
    compiled = compile_case(case)
    if compiled is None:
        return None
    if number % 5 == 0:
        lanes = random_lanes(compiled, np.random.default_rng(number))
        laned = compile_case(replace(case, schedule=replace(case.schedule, lanes=lanes)))
        return case, laned or compiled
    return case, compiled


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_results_are_the_oracles(shard: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(shard, PROGRAMS, SHARDS):
        found = compiled_case(number)
        if found is None:
            seen["refused"] += 1
            continue
        case, compiled = found
        outputs = run(compiled, case.tensors, engine="plain").outputs
        # Fusion keeps some results to itself.
        for name in case.expected.keys() & outputs.keys():
            case.compare(name, outputs[name].to_dense())
        seen["fused" if len(compiled.regions) == 1 else "split"] += 1
    assert seen["fused"] + seen["split"] >= LEAST_RUN * sum(seen.values()), seen
    assert seen["fused"]


@pytest.mark.slow
@pytest.mark.verilator
def test_rtl_agrees() -> None:
    built, number = 0, 1_000_000
    while built < RTL_PROGRAMS:
        number += 1
        found = compiled_case(number)
        if found is None or len(found[1].design.nodes) < LEAST_NODES:
            continue
        case, compiled = found
        model, rtl = (run(compiled, case.tensors, backend) for backend in ("sim", "verilator"))
        assert [r.cycles for r in rtl.regions] == [r.cycles for r in model.regions], case
        for name in case.expected.keys() & rtl.outputs.keys():
            case.compare(name, rtl.outputs[name].to_dense())
        built += 1
