"""Random concatenations of parts that share what makes them, at extents to 200, under every way to share: the
results are NumPy's, and nothing deadlocks.

Two thousand programs of each type, and a hundredth of that many in RTL, run on demand:

    SAMHW_RANDOM_CONCATS=2000 python -m pytest -n 2 tests/compiler/test_random_concats.py
"""

import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from samhw.app.workload import Workload, compile_workload
from samhw.choices.iteration import ITERATIONS
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import ScheduleError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.oracle.concats import draw
from tests.support.oracle.written import Written
from tests.support.strategies.lanes import random_lanes

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_CONCATS", "24"))
SHARDS = 2
RTL_PROGRAMS = max(1, PROGRAMS // 100)
VALUES = ("i32", "f32")
MOST_REFUSED = 0.25
"""Of the programs of a shard: what one region is asked to compute once, or has no order for."""


def compiled_case(number: int, value: str) -> tuple[Written, Workload, Compiled] | None:
    """A program under a random schedule, a third of them with lanes; None for what is refused."""
    case, text = draw(number, value)
    rng = Random(number)
    program = parse(text)
    tensors = {decl.name: Tensor.from_dense(case.inputs[decl.name], decl.format) for decl in program.inputs}
    program = program.bind({name: tensor.shape for name, tensor in tensors.items()})
    work = Workload("random", program, tensors)
    schedule = Schedule(
        fuse=rng.choice(("full", "full", "partial", "none")),
        share=rng.choice(("auto", "all", "none")),
        iteration=rng.choice(ITERATIONS),
        permute=rng.random() < 0.7,
    )
    # Room for rows in lanes is for speed alone. Channels that hold little end regions.
    arch = Arch(
        deepest=rng.choice((*[1 << 30] * 5, 64)),
        lane_rows=rng.choice((0, 1, 64)),
        lane_tokens=rng.choice((0, 1, 1024)),
    )
    try:
        compiled = compile_workload(work, schedule, value=value_type(value), arch=arch)
    except ScheduleError:
        return None
    if rng.random() < 0.3:
        lanes = random_lanes(compiled, np.random.default_rng(number))
        with suppress(ScheduleError):
            compiled = compile_workload(
                work, replace(schedule, lanes=lanes), value=value_type(value), arch=arch
            )
    return case, work, compiled


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_results_are_numpys(shard: int, value: str) -> None:
    seen: Counter[str] = Counter()
    for number in range(shard, PROGRAMS, SHARDS):
        found = compiled_case(number, value)
        if found is None:
            seen["refused"] += 1
            continue
        case, work, compiled = found
        outputs = run(compiled, work.tensors).outputs
        for name in outputs.keys() & case.expected.keys():
            actual = outputs[name].to_dense()
            np.testing.assert_array_equal(actual, case.expected[name], err_msg=f"{name} of\n{case.text()}")
        waits = [reason for region in compiled.regions for reason in region.reasons.values()]
        seen["waits" if any("the parts before it" in reason for reason in waits) else "other"] += 1
    assert seen["refused"] <= MOST_REFUSED * sum(seen.values()), seen
    assert seen["waits"]


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("value", VALUES)
def test_rtl_agrees(value: str) -> None:
    built, number = 0, 1_000_000
    while built < RTL_PROGRAMS:
        number += 1
        found = compiled_case(number, value)
        if found is None:
            continue
        case, work, compiled = found
        model, rtl = (run(compiled, work.tensors, backend) for backend in ("sim", "verilator"))
        assert [r.cycles for r in rtl.regions] == [r.cycles for r in model.regions], case.text()
        for name in rtl.outputs.keys() & case.expected.keys():
            np.testing.assert_array_equal(rtl.outputs[name].to_dense(), case.expected[name], err_msg=name)
        built += 1
