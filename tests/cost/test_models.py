"""Estimates of the built-in models against the simulator."""

import pytest

from samhw.app.checking import measure
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.graph.numerics import Float
from samhw.lang import model_names

SLOW = {"gpt3_block", "bigbird_attention"}


@pytest.mark.nightly(but=7)
@pytest.mark.parametrize("level", ["none", "partial", "full"])
@pytest.mark.parametrize(
    "model", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in model_names()]
)
def test_models(model: str, level: FusionLevel) -> None:
    workload = bind_program(model)
    schedule = Schedule(fuse=level)
    compiled = compile_workload(workload, schedule, value=Float("f32"))
    found = estimate_compiled(compiled, workload.statistics())
    taken = measure(workload, schedule, value=Float("f32"))
    assert found.operations == taken.operations
    assert found.bytes_read == taken.bytes_read
    assert found.bytes_written == taken.bytes_written
    assert found.cycles == pytest.approx(taken.cycles, rel=0.15)
