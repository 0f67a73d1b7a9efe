"""Whatever the schedule, the results are NumPy's."""

from dataclasses import replace

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import bind_program, compile_workload, make_model_workload, make_workload
from samhw.choices.fuse import FUSION_LEVELS, FusionLevel, FusionRule
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.lang import kernel_names, model_names, parse
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.support.thorough import THOROUGH

pytestmark = pytest.mark.slow

GCN = Schedule(
    fuse=[["T1", "U1"], ["Z1", "H1"], ["U2", "Z2"]],
    order={"U1": ["i", "k", "f", "h"], "H1": ["i", "h"]},
    formats={"U1": "dcsr", "X": "dcsr", "T2": "csr", "W1": "csr", "A": "dcsr"},
)
GAT = Schedule(fuse="none", formats={"A": "dcsr"})
SAE = Schedule(fuse="full", formats={"W1": "dense", "X": "dense"})
MLP = Schedule(fuse=[["T1", "Z1"], ["H1", "T2"]], formats={"X": "csr"})
MODELS = {"gcn": GCN, "sae": SAE, "mlp": MLP, "gat": GAT}


@pytest.mark.parametrize("model", MODELS)
def test_models_under_schedules_of_their_own(model: str) -> None:
    workload = make_model_workload(model)
    usual = run(compile_workload(workload), workload.tensors)
    compiled = compile_workload(workload, MODELS[model])
    result = run(compiled, workload.tensors)
    assert check(workload, compiled, result.outputs).good
    assert result.cycles != usual.cycles
    for name, text in MODELS[model].formats.items():
        stored = [t for t in compiled.design.tensors if t.name == name]
        assert all(t.format == text for t in stored)


@pytest.mark.verilator
@pytest.mark.skipif(not THOROUGH, reason="random programs have random formats in hardware")
@pytest.mark.parametrize("model", ["gcn", "mlp"])
def test_in_hardware(model: str) -> None:
    workload = make_model_workload(model)
    compiled = compile_workload(workload, MODELS[model])
    ours, theirs = run(compiled, workload.tensors), run(compiled, workload.tensors, "verilator")
    assert ours.cycles == theirs.cycles
    assert check(workload, compiled, theirs.outputs).good


def test_room_follows_the_formats() -> None:
    """A tensor that is dense in the program may be compressed, and the other way round."""
    workload = bind_program("spmm", ["random:size=9,density=0.3,seed=1"])
    for formats in ({"X": "csr"}, {"A": "dense"}, {"A": "dcsr", "X": "dcsr", "T": "dcsr"}, {"T": "csf"}):
        compiled = compile_workload(workload, Schedule(formats=formats))
        assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


def test_what_is_compressed_needs_less_room() -> None:
    workload = make_workload(parse("tensor a[i=64] : dense\nb[i] = 2 * a[i]\n"), [])
    sparse = Tensor.from_dense(np.eye(1, 64)[0], "dense")
    workload = replace(workload, tensors={"a": sparse})
    assert workload.capacity().entries["a"] == 64
    assert workload.capacity(Schedule(formats={"a": "csf"})).entries["a"] == 2  # The two positions.


def test_a_format_against_every_order_is_refused_or_permitted() -> None:
    workload = bind_program("spmm", ["random:size=9,density=0.3,seed=1"])
    against = Schedule(formats={"A": "csc"})
    with pytest.raises(ScheduleError, match="permute=True"):
        compile_workload(workload, against)
    compiled = compile_workload(workload, replace(against, permute=True))
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good


@pytest.mark.parametrize("level", [*FUSION_LEVELS, "kinds"])
@pytest.mark.parametrize("program", [*kernel_names(), *model_names()])
def test_the_schedule_that_was_used_gives_the_same(program: str, level: FusionLevel | FusionRule) -> None:
    """The text of what was used leads to the same graphs."""
    schedule = Schedule(fuse=level)
    workload = bind_program(program)
    try:
        compiled = compile_workload(workload, schedule)
    except ScheduleError:
        return
    used = Schedule.from_fields(compiled.schedule.to_json())
    chosen = [r for r in compiled.regions if not r.copy and not r.region.reshapes]
    assert used.order == {r.region.label: r.order for r in chosen if r.region.label and r.order}
    assert used.order
    again = compile_workload(workload, used)
    assert [r.order for r in again.regions] == [r.order for r in compiled.regions]
    assert [r.graph for r in again.regions] == [r.graph for r in compiled.regions]
    assert again.schedule == compiled.schedule


COPIED = (
    "tensor A[i=5, j=7] : csr\ntensor B[i=5, j=7] : csc\ntensor T[j=7, i=5] : csc\ntensor U[i=5, j=7] : csc\n"
    "tensor V[j=7, i=5] : csr\n"
    "T[j, i] = A[i, j] * B[i, j]\nU[i, j] = 2 * A[i, j]    order i, j\nV[j, i] = U[i, j]\n"
    "tensor W[j=7, i=5] : csc\nW[j, i] = V[j, i]\n"
)


def test_a_program_with_copies_is_reproduced() -> None:
    compiled = compile_job(Job(parse(COPIED), Schedule(permute=True)))
    assert any(region.copy for region in compiled.regions)
    assert [region.region.label for region in compiled.regions if region.region.label] == ["T", "U", "V", "W"]
    again = compile_job(Job(parse(COPIED), compiled.schedule))
    assert [r.graph for r in again.regions] == [r.graph for r in compiled.regions]


def test_a_result_that_is_filled_in_has_the_order_that_was_asked_for() -> None:
    """The order is that of the region itself, and not of what copies its result."""
    text = "tensor A[i=5, j=7] : csr\ntensor Y[i=5, j=7] : csc\nY[i, j] = 2 * A[i, j]\n"
    compiled = compile_job(Job(parse(text), Schedule(permute=True, order=("i", "j"))))
    assert [region.order for region in compiled.regions if region.region.label] == [("i", "j")]


def test_results_have_room_for_the_zeros_that_another_format_stores() -> None:
    workload = make_workload(
        parse("tensor a[i=4, j=4] : csr\ntensor y[i, j] : csr\ny[i, j] = 2 * a[i, j]\n"), []
    )
    sparse = Tensor.from_dense(np.eye(1, 16).reshape(4, 4), "csr")
    workload = replace(workload, tensors={"a": sparse})
    schedule = Schedule(formats={"a": "(compressed, dense)"})
    assert workload.capacity(schedule).entries["y"] == 4
    compiled = compile_workload(workload, schedule)
    assert check(workload, compiled, run(compiled, workload.tensors).outputs).good
