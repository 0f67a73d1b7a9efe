"""What a run tells, against what the simulator, the compiler and the check say of themselves."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from samhw.app.checking import Check, Verdict, check
from samhw.app.checking.measure import measure_compiled
from samhw.app.report.run_report import RunReport, run_report
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.graph import DDR4, Dram
from samhw.targets.backends import MODEL, RegionRun, run
from tests.support.command import report as printed

GCN, SPMM = "gcn", "spmm"


def compiled_on_karate(program: str, schedule: Schedule | None = None) -> tuple[Workload, Compiled]:
    workload = bind_program(program, ["karate"])
    return workload, compile_workload(workload, schedule)


def told(program: str, schedule: Schedule | None = None, memory: Dram | None = None) -> RunReport:
    """The report of a run by the simulator."""
    workload, compiled = compiled_on_karate(program, schedule)
    model = run(compiled, workload.tensors, memory=memory)
    found = check(workload, compiled, model.outputs)
    asked = schedule or Schedule()
    return run_report(workload, compiled, MODEL, [model], [found], asked=asked, command="samhw run it")


@pytest.mark.parametrize("memory", [None, DDR4], ids=["on chip", "off chip"])
def test_stalls_and_traffic_are_those_of_a_measure(memory: Dram | None) -> None:
    workload, compiled = compiled_on_karate(GCN)
    measure = measure_compiled(workload, compiled, memory=memory)
    report = told(GCN, memory=memory)
    nodes = [node for region in report.regions for node in region.nodes]
    assert report.cycles == measure.cycles
    assert sum(node.firings for node in nodes) == measure.firings
    assert sum(node.spent.causes["starved"] for node in nodes) == measure.starved > 0
    assert sum(node.spent.causes["blocked"] for node in nodes) == measure.blocked > 0
    assert sum(node.spent.spaced for node in nodes) == measure.spaced
    assert sum(node.spent.memory for node in nodes) == measure.fetching
    moved = sum(words.bytes for region in report.regions for words in region.traffic.values())
    assert moved == pytest.approx(measure.bytes_read + measure.bytes_written)
    longest = max(report.regions, key=lambda region: region.cycles)
    assert measure.bottleneck.endswith(str(longest.bottleneck))
    assert (report.memory.bytes if report.memory else None) == measure.bytes_moved
    assert all((region.ports is None) == (memory is None) for region in report.regions)


def test_channels_have_their_depths_and_reasons() -> None:
    _, compiled = compiled_on_karate(SPMM)
    (region,) = told(SPMM).regions
    graph = compiled.regions[0].graph
    assert {channel.name: channel.depth for channel in region.channels} == {
        channel.name: channel.depth for channel in graph.channels
    }
    reasons = {channel.name: channel.reason for channel in region.channels if channel.reason}
    assert reasons == compiled.regions[0].reasons != {}
    assert all(0 <= channel.mean <= channel.high_water <= channel.depth for channel in region.channels)


def test_copies_are_told_as_one() -> None:
    (region,) = told(SPMM, Schedule(lanes={"i": 4})).regions
    loads = region.lanes
    assert loads is not None
    (node,) = (node for node in region.nodes if node.name == loads.node)
    assert node.copies == len(loads.firings) == 4
    assert node.firings == max(loads.firings)


def test_the_worst_of_all_runs_is_told() -> None:
    workload, compiled = compiled_on_karate(SPMM)
    model = run(compiled, workload.tensors)
    right = check(workload, compiled, model.outputs)

    def of(other: Check, regions: tuple[RegionRun, ...] = model.regions) -> RunReport:
        runs = [model, replace(model, regions=regions, clock=50e6)]
        return run_report(workload, compiled, MODEL, runs, [right, other], asked=Schedule(), period=1.0)

    assert of(right).good
    assert of(right).checked
    assert of(right).period == 20.0  # The backend's own.
    unproved = of(replace(right, tensors=dict.fromkeys(right.tensors, Verdict.UNPROVED), unproved=3))
    assert unproved.good
    assert not unproved.checked
    assert unproved.to_json()["unproved"] == 3
    wrong = of(Check(np.inf, 0.0, tensors=dict.fromkeys(right.tensors, Verdict.WRONG)))
    assert not wrong.good
    assert wrong.to_json()["max_abs_error"] == np.inf
    late = of(right, tuple(replace(region, cycles=region.cycles + 1) for region in model.regions))
    assert not late.agreed
    assert not late.good
    assert not late.to_json()["checked"]


def test_unchecked_runs_are_compared_with_each_other() -> None:
    workload, compiled = compiled_on_karate(SPMM)
    model = run(compiled, workload.tensors)
    (region,) = model.regions
    tensors = {name: replace(t, vals=t.vals + 1) for name, t in region.outputs.items()}
    other = replace(model, regions=(replace(region, outputs=tensors),))
    for second, good in ((model, True), (other, False)):
        report = run_report(workload, compiled, MODEL, [model, second], [], asked=Schedule())
        assert report.agreed is report.good is good
        assert not report.checked
        assert report.to_json()["status"] is None


def test_a_report_is_a_value_that_json_takes() -> None:
    report = told(GCN, memory=DDR4)
    with pytest.raises(FrozenInstanceError):
        report.cycles = 0  # type: ignore[misc]
    for details in (False, True):
        data = report.to_json(details=details)
        assert json.loads(json.dumps(data)).keys() == data.keys()
        assert all(("nodes" in region) is details for region in data["regions"])
    assert report.to_json()["command"] == "samhw run it"
    assert report.to_json()["versions"].keys() == {"samhw", "python", "numpy"}


def test_json_has_what_the_terminal_has() -> None:
    words = ("run", "spmm", "--data", "karate", "--stats")
    found = printed(*words)
    assert found["command"] == "samhw run spmm --data karate --stats --json -"
    expected = told(SPMM).to_json(details=True)
    assert found["regions"] == json.loads(json.dumps(expected["regions"]))
    assert "nodes" not in printed(*words[:-1])["regions"][0]
