"""Every built-in model at every fusion level, in the simulator, against NumPy within the bounds of f32."""

import pytest

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.fuse import FUSION_LEVELS, FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.graph.numerics import value_type
from samhw.lang import load_model, model_data, model_names
from samhw.targets.backends import run

SIZES = {
    "bigbird_attention": {"i": 16},
    "gpt3_block": {"i": 6, "e": 4, "h": 2, "d": 2, "f": 4},
    "sae": {"n": 3, "f": 12, "h": 8, "g": 8},
}
"""Where the default sizes take more than a second or two."""


def workload(name: str, fusion: FusionLevel) -> Workload:
    data = model_data(name, sizes=SIZES.get(name))
    program = load_model(name).bind({n: t.shape for n, t in data.items()})
    return Workload(name, Schedule(fuse=fusion).apply(program), data)


def one_region(name: str) -> Schedule:
    """What keeps a model in one region. With nothing shared at all, the decoder block has too many uses."""
    recomputed = dict.fromkeys(("mean1", "D1", "var1", "r1", "N1", "K", "V", "Q"), "recompute")
    return Schedule(fuse="full", share=recomputed if name == "gpt3_block" else "none")


@pytest.mark.nightly(but=8)
@pytest.mark.parametrize("fusion", FUSION_LEVELS)
@pytest.mark.parametrize("name", model_names())
def test_model(name: str, fusion: FusionLevel) -> None:
    check_model(name, Schedule(fuse=fusion))


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("name", model_names())
def test_model_in_one_region(name: str) -> None:
    assert len(check_model(name, one_region(name)).regions) == 1


def check_model(name: str, schedule: Schedule) -> Compiled:
    data = model_data(name, sizes=SIZES.get(name))
    program = load_model(name).bind({n: t.shape for n, t in data.items()})
    work = Workload(name, program, data)
    compiled = compile_workload(work, schedule, value=value_type("f32"))
    result = check(work, compiled, run(compiled, work.tensors).outputs)
    assert result.good, f"off by {result.max_abs_error}, bound {result.bound}"
    assert result.max_abs_error < 1e-4
    return compiled


@pytest.mark.parametrize("name", ["gcn", "gat", "mlp"])
def test_global_iteration_gives_the_same_result(name: str) -> None:
    work = workload(name, "partial")
    compiled = compile_workload(work, value=value_type("f32"), schedule=Schedule(iteration="global"))
    result = check(work, compiled, run(compiled, work.tensors).outputs)
    assert result.good, f"off by {result.max_abs_error}, bound {result.bound}"


@pytest.mark.parametrize("name", model_names())
def test_whole_models_of_the_default_size_are_one_region(name: str) -> None:
    program = load_model(name).bind({n: t.shape for n, t in model_data(name).items()})
    assert len(compile_job(Job(program, one_region(name), value=value_type("f32"))).regions) == 1
