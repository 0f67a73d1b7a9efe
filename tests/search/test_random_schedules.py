"""Random programs under random schedules: what is accepted statement by statement is accepted fused, runs to
its end, and gives what the generators say.

Twenty thousand programs, and a hundred in RTL, run on demand:

    SAMHW_RANDOM_SCHEDULES=20000 python -m pytest -n 2 tests/search/test_random_schedules.py
"""

import os
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.search.drawn import VALUES, Drawn, draw, draw_schedule

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_SCHEDULES", "240"))
SHARDS = 8
RTL_PROGRAMS = max(2, PROGRAMS // 200)
CHOSEN = (71, 98, 5051)
"""Programs that compute an intermediate once for uses under several indices."""
EXTENDED = (1, 4)
"""Of the programs, how many are compiled for other data too, and by the schedule that was used."""


def accepted(work: Workload, schedule: Schedule, value: str) -> Compiled | str:
    """The design, or why there is none."""
    try:
        return compile_workload(work, schedule, value=value_type(value))
    except InputError as error:
        return str(error)


def compiled(number: int) -> tuple[Drawn, Workload, Compiled] | None:
    """A program under its schedule; None for what is refused, as it is statement by statement."""
    drawn = draw(number)
    if drawn is None:
        return None
    rng = Random(number)
    value = rng.choice(VALUES[drawn.value])
    program = drawn.program.bind({name: tensor.shape for name, tensor in drawn.tensors.items()})
    schedule = draw_schedule(program, rng)
    work = Workload(f"random {number}", program, drawn.tensors)
    alone = replace(schedule, fuse="none", share="auto")
    found = accepted(work, schedule, value)
    if isinstance(found, str):
        refused = accepted(work, alone, value)
        assert isinstance(refused, str), f"{number}: {found}\n{schedule}\n{program.text}"
        return None
    if number % EXTENDED[1] < EXTENDED[0]:
        others = replace(work, tensors={n: _other(t, rng) for n, t in work.tensors.items()})
        assert isinstance(accepted(others, schedule, value), Compiled), f"{number}\n{program.text}"
        again = compile_workload(work, found.schedule, value=value_type(value))
        assert [r.graph for r in again.regions] == [r.graph for r in found.regions], number
    return drawn, work, found


def _other(tensor: Tensor, rng: Random) -> Tensor:
    """Of the same shape and format, with other elements stored."""
    keep = np.array([rng.random() < 0.5 for _ in range(int(np.prod(tensor.shape)))]).reshape(tensor.shape)
    return Tensor.from_dense(keep.astype(float), tensor.format)


@pytest.mark.nightly(but=2)
@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_results_are_those_of_the_generators(shard: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(shard, PROGRAMS, SHARDS):
        found = compiled(number)
        if found is None:
            seen["refused"] += 1
            continue
        drawn, work, design = found
        outputs = run(design, work.tensors, engine="plain").outputs
        if design.value == value_type(drawn.value):
            for name, tensor in outputs.items():
                drawn.compare(name, tensor.to_dense())
        assert check(work, design, outputs).good, f"{number}\n{work.program.text}"
        seen["run"] += 1
    assert seen["run"] > seen["refused"], seen


@pytest.mark.slow
def test_what_is_chosen_gives_the_same() -> None:
    """Under `--schedule auto`, which looks at what each candidate's streams carry."""
    seen = 0
    for number in (*CHOSEN, *range(2_000_000, 2_000_000 + PROGRAMS // 10)):
        drawn = draw(number)
        if drawn is None:
            continue
        program = drawn.program.bind({name: tensor.shape for name, tensor in drawn.tensors.items()})
        work = Workload(f"random {number}", program, drawn.tensors)
        found = accepted(work, Schedule(fuse="auto"), drawn.value)
        if isinstance(found, str):
            assert isinstance(accepted(work, Schedule(fuse="none"), drawn.value), str), f"{number}: {found}"
            continue
        outputs = run(found, work.tensors, engine="plain").outputs
        for name, tensor in outputs.items():
            drawn.compare(name, tensor.to_dense())
        assert check(work, found, outputs).good, f"{number}\n{program.text}"
        seen += 1
    assert seen > len(CHOSEN)


@pytest.mark.slow
@pytest.mark.verilator
def test_rtl_agrees() -> None:
    built, number = 0, 1_000_000
    while built < RTL_PROGRAMS:
        number += 1
        found = compiled(number)
        if found is None or len(found[2].design.nodes) < 12:
            continue
        _, work, design = found
        model, rtl = (run(design, work.tensors, backend) for backend in ("sim", "verilator"))
        assert [r.cycles for r in rtl.regions] == [r.cycles for r in model.regions], number
        for name, tensor in model.outputs.items():
            np.testing.assert_array_equal(
                rtl.outputs[name].to_dense(), tensor.to_dense(), err_msg=str(number)
            )
        built += 1
