"""Random running reductions, recurrences, products and coordinates of extremes, under every format, mask and
fusion: the results are the oracle's, and RTL and C++ agree with the model, to the cycle and to the token.

Five thousand programs, and a hundredth of that many in RTL and in C++, run on demand:

    SAMHW_RANDOM_RUNNING=5000 python -m pytest -n 2 tests/compiler/test_random_running.py
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from samhw.compiler import Compiled
from samhw.targets.backends import run
from tests.support.oracle.case import Case, compile_case, draw_case
from tests.support.oracle.running import draw_running_program
from tests.support.strategies.lanes import random_lanes

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_RUNNING", "160"))
SHARDS = 4
BUILDS = max(2, PROGRAMS // 100)
LEAST_NODES = 10
RUNNING = {"running", "recur", "recur_vector", "arg", "top_k"}
LEAST_RUN = 0.6
"""Of the programs of a shard; the others break a rule, or have storage against every order."""


def compiled_case(number: int) -> tuple[Case, Compiled] | None:
    """A case and how it is compiled, a quarter of them with lanes; None for what is refused."""
    case = draw_case(number, draw_running_program)
    if case is None:
        return None
    case = replace(case, schedule=replace(case.schedule, permute=number % 3 > 0))
    compiled = compile_case(case)
    if compiled is not None and number % 4 == 0:
        lanes = random_lanes(compiled, np.random.default_rng(number))
        laned = compile_case(replace(case, schedule=replace(case.schedule, lanes=lanes)))
        compiled = laned or compiled
    return None if compiled is None else (case, compiled)


def kinds(compiled: Compiled) -> set[str]:
    """Those of the nodes of all regions."""
    return {node.kind for region in compiled.regions for node in region.graph.nodes}


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
        for name in case.expected.keys() & outputs.keys():
            case.compare(name, outputs[name].to_dense())
        seen["run"] += 1
        seen["running"] += bool(RUNNING & kinds(compiled))
        seen["recur"] += "recur" in kinds(compiled)
        seen["recur_vector"] += "recur_vector" in kinds(compiled)
        seen["arg"] += "arg" in kinds(compiled)
        seen["top_k"] += "top_k" in kinds(compiled)
    assert seen["run"] >= LEAST_RUN * (seen["run"] + seen["refused"]), seen
    assert seen["running"] >= seen["run"] / 2, seen
    assert min(seen["recur"], seen["recur_vector"]) >= seen["run"] / 50, seen
    assert min(seen["arg"], seen["top_k"]) >= seen["run"] / 20, seen


def built_cases(start: int) -> Iterator[tuple[Case, Compiled]]:
    """Cases of some size with a running reduction."""
    built, number = 0, start
    while built < BUILDS:
        number += 1
        found = compiled_case(number)
        if found is None or len(found[1].design.nodes) < LEAST_NODES:
            continue
        if RUNNING & kinds(found[1]):
            built += 1
            yield found


@pytest.mark.slow
@pytest.mark.verilator
def test_rtl_agrees() -> None:
    for case, compiled in built_cases(1_000_000):
        model, rtl = (run(compiled, case.tensors, backend) for backend in ("sim", "verilator"))
        assert [r.cycles for r in rtl.regions] == [r.cycles for r in model.regions], case
        for name in case.expected.keys() & rtl.outputs.keys():
            case.compare(name, rtl.outputs[name].to_dense())


@pytest.mark.slow
def test_cpp_agrees() -> None:
    """The run compares tokens and words with the simulator's."""
    for case, compiled in built_cases(2_000_000):
        outputs = run(compiled, case.tensors, "hls").outputs
        for name in case.expected.keys() & outputs.keys():
            case.compare(name, outputs[name].to_dense())
