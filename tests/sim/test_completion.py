"""The share of a run that is said to be done, against that of its cycles."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.sim import Progress, engine, simulate
from samhw.sim.compiled import compiled_engine, image
from samhw.targets.backends import RunResult, run
from tests.sim.small_phases import small_phases
from tests.support.graphs import Builder


def followed(
    spec: str, data: str, fuse: Any, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> tuple[RunResult, list[Progress]]:
    """A run, and its progress many times, however short it is."""
    monkeypatch.setattr(engine, "SLICE", 100)
    monkeypatch.setattr(engine, "TURN", 20)
    monkeypatch.setattr(compiled_engine, "BATCH", 100)
    workload = bind_program(spec, [data], value=value_type("f32"))
    workload = replace(workload, program=Schedule(fuse=fuse).apply(workload.program))
    seen: list[Progress] = []
    # In one region, however often it computes something.
    compiled = compile_workload(workload, Schedule(share="none"), value=value_type("f32"))
    result = run(compiled, workload.tensors, progress=seen.append, **options)
    return result, seen


@pytest.mark.parametrize("name", ["plain", "compiled"])
def test_both_engines_tell_the_share(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_phases(), monkeypatch.context() as patch:
        patch.setattr(image, "PHASE", 20)
        result, seen = followed("spmm", "karate", "partial", monkeypatch, engine=name)
    running = [state for state in seen if state.firings]
    assert len(running) > 50
    for state in running:
        assert state.share == pytest.approx(state.cycle / result.cycles, abs=0.15)
    assert [state.share for state in running] == sorted(state.share or 0 for state in running)


@pytest.mark.parametrize(
    ("spec", "data", "fuse"),
    [
        ("gcn", "karate", "full"),  # Rows differ in work.
        ("gat", "karate", "full"),  # Scanners are ahead of a softmax.
        ("mttkrp", "karate", "partial"),
        ("spmspm_ikj", "random:size=60,density=0.1", "partial"),  # Nobody knows what will be written.
    ],
)
def test_shares_are_about_right(spec: str, data: str, fuse: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result, seen = followed(spec, data, fuse, monkeypatch, engine="plain")
    for state in seen:
        assert state.share == pytest.approx(state.cycle / result.cycles, abs=0.25)


def test_one_sum_over_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """All is read, evenly, and then written; of that nothing is known."""
    result, seen = followed(
        "spmspm_kij", "random:size=60,density=0.1", "partial", monkeypatch, engine="plain"
    )
    reading = [state for state in seen if state.share is not None and state.share < 1]
    end = reading[-1].cycle
    assert 0.4 < end / result.cycles < 0.7
    for state in reading:
        assert state.share == pytest.approx(state.cycle / end, abs=0.25)
    assert all(state.share == 1 for state in seen[len(reading) :])


def test_regions_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    result, seen = followed("mlp", "random", "none", monkeypatch, engine="plain")
    assert {state.graph for state in seen} == {region.name for region in result.regions}
    assert len(result.regions) == 8


def test_nothing_to_tell() -> None:
    """A scalar is neither scanned nor, before the end, written."""
    g = Builder()
    g.add("root", "root", 0)
    g.add("array", "a", 0, "root.out", vals="v")
    g.add("write_val", "w", 0, "a.val", vals="x")
    seen: list[Progress] = []
    with small_phases():
        simulate(g.graph(), Arch(), {"v": np.array([7])}, {}, engine="compiled", progress=seen.append)
    assert seen
    assert all(state.share is None for state in seen)
