"""Lanes go on alone, one after the other, and nobody sees it."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.sim import Progress, Result, machine_code, simulate
from samhw.sim.compiled import compiled_engine, image
from samhw.sim.compiled.image import partitions_of
from samhw.sim.machine import build_graph
from samhw.sim.stores import make_stores
from samhw.sim.worker import Worker
from samhw.targets.running.images import load_inputs
from tests.sim.small_phases import small_phases
from tests.sim.test_engines import assert_same


def run_arguments(spec: str, **lanes: int) -> list[Any]:
    """What `simulate` takes for the first region of a program on the karate club."""
    workload = bind_program(spec, ["karate"])
    built = compile_workload(workload, Schedule(lanes=lanes))
    words, extents = load_inputs(built.program, built.design, workload.tensors, built.recipes)
    region = built.regions[0].graph
    needed = {memory.name for memory in region.memories}
    return [region, built.arch, {name: w for name, w in words.items() if name in needed}, extents]


def partitions(spec: str, **lanes: int) -> list[list[Worker]]:
    graph, arch, memories, extents = run_arguments(spec, **lanes)
    stores, _ = make_stores(graph, memories, extents)
    return partitions_of(build_graph(graph, arch, stores).workers)


def test_a_lane_is_a_partition() -> None:
    outside, *lanes = partitions("spmm", i=4)
    assert [{worker.lane for worker in lane} for lane in lanes] == [{(("i", n),)} for n in range(4)]
    assert {worker.lane for worker in outside} == {()}
    assert any(worker.node.startswith("scatter") for worker in outside)


def test_scatters_of_a_tree_are_outside() -> None:
    outside, *lanes = partitions("spmm", i=32)
    assert len(lanes) == 32
    assert Counter(map(len, lanes)) == {len(lanes[0]): 32}
    assert {worker.lane for lane in lanes for worker in lane} == {
        (("i", outer), ("i", inner)) for outer in range(8) for inner in range(4)
    }
    assert {len(worker.lane) for worker in outside} == {0, 1}


def test_inner_lanes_stay_in_their_outer_one() -> None:
    _, *lanes = partitions("sddmm", i=2, j=3)
    assert [{worker.lane[0] for worker in lane} for lane in lanes] == [{("i", 0)}, {("i", 1)}]
    assert {worker.lane[1:] for worker in lanes[0]} == {(), *((("j", n),) for n in range(3))}


@pytest.mark.parametrize(
    ("spec", "lanes"), [("spmm", {"i": 4}), ("sddmm", {"j": 3}), ("gcn", {"i": 9}), ("gcn", {"i": 2, "f": 2})]
)
def test_channels_lead_forward(spec: str, lanes: dict[str, int]) -> None:
    """What takes from lanes comes after them; but for circles, which nodes have inside of them."""
    order = [worker for partition in partitions(spec, **lanes) for worker in partition]
    place = {worker: n for n, worker in enumerate(order)}
    queues = [queue for worker in order for queue in worker.inputs.values()]
    back = [queue for queue in queues if place[queue.producer] >= place[queue.consumer]]
    assert all(queue.producer.node == queue.consumer.node for queue in back)


def test_without_lanes_there_is_one_partition() -> None:
    assert len(partitions("gcn")) == 1


@pytest.mark.parametrize("far", [1, 1 << 30])
@pytest.mark.parametrize(
    ("spec", "lanes"),
    [("spmm", {"i": 4}), ("spmm", {"k": 3}), ("sddmm", {"i": 2, "j": 3}), ("gcn", {"i": 9})],
)
def test_engines_are_equal(
    spec: str, lanes: dict[str, int], far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether partitions go on alone as long as they can, or hardly ever."""
    arguments = run_arguments(spec, **lanes)
    plain = simulate(*arguments, engine="plain")
    monkeypatch.setattr(compiled_engine, "FAR", far)
    assert_same(simulate(*arguments, engine="compiled"), plain)
    with small_phases():
        assert_same(simulate(*arguments, engine="compiled"), plain)


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("spec", ["mttkrp", "residual", "sddmm", "spmm"])
def test_cut_anywhere(spec: str) -> None:
    """What rests since a partition sees less of others than there is looks again when there is more to
    see."""
    arguments = run_arguments(spec)
    plain = simulate(*arguments, engine="plain")
    for seed in range(40):
        with small_phases(np.random.default_rng(seed)):
            assert_same(simulate(*arguments, engine="compiled"), plain)


def test_parts_do_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a wide graph that fits after its scatters, nothing is left for all together."""
    arguments = run_arguments("spmm", i=4)
    done: dict[bool, int] = Counter()

    def call(code: int, address: int, most: int) -> int:
        before = made[-1].timed()
        end = machine_code.call(code, address, most)
        done[address == made[-1].whole.address] += made[-1].timed() - before
        return end

    class Image(image.Image):
        def __init__(self, *arguments: Any, **options: Any):
            super().__init__(*arguments, **options)
            made.append(self)

    made: list[Image] = []
    monkeypatch.setattr(compiled_engine, "call", call)
    monkeypatch.setattr(compiled_engine, "Image", Image)
    result = simulate(*arguments, engine="compiled")
    assert len(made) == 1
    assert done[True] == 0 < done[False] == firings(result)


def firings(result: Result) -> int:
    return sum(actor.firings for node in result.nodes.values() for actor in node.actors.values())


def test_a_round_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that wait for their turn are part of what is to be done."""
    monkeypatch.setattr(compiled_engine, "BATCH", 500)
    seen: list[Progress] = []
    with small_phases():
        result = simulate(*run_arguments("spmm", i=4), engine="compiled", progress=seen.append)
    shares = [progress.share for progress in seen if progress.share is not None]
    assert len(shares) > 8
    assert shares == sorted(shares)
    done = [progress.firings / firings(result) for progress in seen]
    assert shares == pytest.approx(done, abs=0.2)
