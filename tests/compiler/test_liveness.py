"""Graphs that cannot deadlock (docs/liveness.md): what the check proves runs, and a token less is refused.

Ten thousand random programs, fused as one region or as few, run at exactly the depths of the compiler:

    SAMHW_RANDOM_PROGRAMS=10000 python -m pytest tests/compiler/test_liveness.py -k at_their_depths
"""

import contextlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.workload import Workload, bind_program, compile_workload, make_model_workload
from samhw.choices.choice import choice
from samhw.choices.fuse import FUSION_LEVELS, FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.graph import Arch, Graph, unproved_circles
from samhw.graph.numerics import value_type
from samhw.lang import Program, model_names, parse
from samhw.sim import DeadlockError
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.compiler.test_channels import (
    LAYER_NORM,
    RESIDUAL,
    SOFTMAX,
    concatenated,
    runs,
    with_depth,
)
from tests.support.command import report
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

SHARDS = 20
PROGRAMS = int(os.environ.get("SAMHW_RANDOM_PROGRAMS", "40"))
"""How many are run at their depths, in all shards."""
SHALLOWER = PROGRAMS // 2
"""How many are run with channels that are less deep."""
MOST_UNPROVED = 0.02
"""Of the regions of random programs."""


SHARES = (0.1, 0.5, 1)
"""Of the channels that are made less deep."""


def compiled(
    text: str, schedule: Schedule | None = None, arch: Arch | None = None
) -> tuple[Graph, Mapping[str, int]]:
    job = Job(parse(text), schedule or Schedule(), value=value_type("f32"), arch=arch or Arch())
    (region,) = compile_job(job).regions
    return region.graph, region.extent


def shallower(design: Compiled, share: float, rng: np.random.Generator) -> Compiled:
    """Some of the channels with a random depth that is no greater than theirs."""
    regions = []
    for region in design.regions:
        fewer = {c.name: int(rng.integers(1, c.depth + 1)) for c in region.graph.channels}
        chosen = {name: depth for name, depth in fewer.items() if rng.random() < share}
        regions.append(replace(region, graph=region.graph.with_depths(chosen)))
    return replace(design, regions=tuple(regions))


@pytest.mark.parametrize(
    ("text", "channel"),
    [
        (SOFTMAX, "array_S.val->sub.a"),
        (SOFTMAX, "exp.val->div.a"),
        (LAYER_NORM, "sub.val->mul_2.a"),
        (RESIDUAL, "relu.val->add.a"),
    ],
)
def test_a_fiber_is_enough_and_a_token_less_is_not(text: str, channel: str) -> None:
    graph, extents = compiled(text)
    assert not unproved_circles(graph, extents)
    enough, less = (with_depth(graph, channel, depth) for depth in (9, 8))
    assert not unproved_circles(enough, extents)
    assert runs(enough)
    circles = unproved_circles(less, extents)
    assert circles
    assert not runs(less)
    # It is a circle, and leads through the channel.
    waits = circles[0].waits
    assert all(one.on == other.waits for one, other in pairwise((*waits, waits[0])))
    assert channel in {wait.channel.name for circle in circles for wait in circle.waits if not wait.token}


@pytest.mark.parametrize("parts", ["TR", "BTR", "RTT", "BBR", "TBB"])
def test_parts_of_a_concatenation(parts: str) -> None:
    region = compile_job(Job(parse(concatenated(parts)), value=value_type("f32"))).regions[0]
    assert not unproved_circles(region.graph, region.extent)
    held = [name for name, why in region.reasons.items() if why.endswith("waits for the parts before it")]
    for name in held:
        assert not unproved_circles(with_depth(region.graph, name, 41), region.extent)
        assert unproved_circles(with_depth(region.graph, name, 40), region.extent)


@pytest.mark.slow
@pytest.mark.parametrize("level", FUSION_LEVELS)
def test_every_model_is_proved(level: FusionLevel) -> None:
    for model in model_names():
        given = make_model_workload(model, ["karate"])
        work = replace(given, program=Schedule(fuse=level).apply(given.program))
        for region in compile_workload(work, value=value_type("f32")).regions:
            assert not unproved_circles(region.graph, region.extent), region.graph.name


RESIDUAL_OF_INTERSECTION = """
tensor A[j=300] : csf
tensor B[j=300] : csf
tensor Y[j] : csf
fuse {
  H[j] = abs(A[j])
  Y[j] = H[j] * B[j] + H[j]
}
"""


def test_what_an_intersection_leaves_out_is_a_fiber_behind() -> None:
    graph, extents = compiled(RESIDUAL_OF_INTERSECTION)
    assert not unproved_circles(graph, extents)
    past = [c.name for c in graph.channels if "scan_compressed_A" in c.source.node and "union" in c.sink.node]
    last = np.eye(300)[-1]
    for name in past:
        shallow = with_depth(graph, name, 20)
        (circle, *_) = unproved_circles(shallow, extents)
        assert not circle.bounded
        assert "may need the end of a fiber of j before it goes on" in str(circle)
        assert not runs(shallow, B=last)


OVERTAKEN = """
tensor A[i=1000] : csf
tensor B[i=1000] : csf
tensor C[i=1000] : csf
tensor Y[i] : csf
fuse {
  H[i] = abs(A[i])
  T[i] = H[i] + B[i]
  Y[i] = T[i] * H[i] * C[i]
}
"""


def test_an_intersection_of_three_takes_one_input_to_its_end_before_another() -> None:
    """To come to the only coordinate of C it takes those of H, which are few, in turn with those of T."""
    graph, extents = compiled(OVERTAKEN)
    assert not unproved_circles(graph, extents)
    every = np.arange(1000)
    data = {"A": every % 10 == 9, "B": every % 10 != 9, "C": every == 999}
    assert runs(graph, **{name: where.astype(float) for name, where in data.items()})
    for name in (c.name for c in graph.channels if "union" in c.source.node and "intersect" in c.sink.node):
        shallow = with_depth(graph, name, 20)
        assert any(not circle.bounded for circle in unproved_circles(shallow, extents))
        assert not runs(shallow, **{name: where.astype(float) for name, where in data.items()})


def test_done_needs_a_slot_too() -> None:
    """The root cannot end the scanner's stream while its reference waits for the scanner's coordinates."""
    graph, extents = compiled(
        "tensor A[k=3] : dense\ntensor B[k=3] : csf\ntensor x\nx = A[k] * B[k]    order k\n"
    )
    shallow = with_depth(graph, "root.out->locate_A_k.ref", 1)
    assert not runs(shallow, B=np.zeros(3))
    assert "may need the end of a stream" in str(unproved_circles(shallow, extents)[0])
    assert not unproved_circles(graph, extents)


@pytest.mark.parametrize("lanes", ["i=2", "i=16", "i=2+j=2"])
def test_lanes(lanes: str) -> None:
    work = bind_program("sddmm", ["random:size=40,density=0.3"])
    (region,) = compile_workload(
        work, Schedule(lanes=choice("lanes").taken(lanes)), value=value_type("i32")
    ).regions
    assert not unproved_circles(region.graph, region.extent)


COLLECTED = """
tensor A[i=24, j=6] : dcsr
tensor B[i=24] : csf
tensor Z[i=24] : csf
fuse {
  S[i] = A[i, j] * A[i, j]
  Z[i] = S[i] + B[i]
}
"""


def test_what_passes_lanes_by_has_room_for_what_is_in_them() -> None:
    """A lane ends its row when it sees its next coordinate, which comes a round later."""
    graph, extents = compiled(COLLECTED, Schedule(lanes={"i": 4}), Arch(lane_rows=0, lane_tokens=0))
    assert not unproved_circles(graph, extents)
    past = "union_i.crd->drop_val_Z.crd"
    enough, less = (with_depth(graph, past, depth) for depth in (8, 3))
    data = {"A": np.ones((24, 6)), "B": np.ones(24)}
    assert not unproved_circles(enough, extents)
    assert runs(enough, **data)
    assert all(circle.bounded and circle.index == "i" for circle in unproved_circles(less, extents))
    assert unproved_circles(less, extents)
    assert not runs(less, **data)


@pytest.mark.slow
def test_what_is_proved_of_less_deep_lanes_runs() -> None:
    seen: Counter[str] = Counter()
    rng = np.random.default_rng(1)
    for name, lanes in (("spmm", "i=2"), ("sddmm", "i=4"), ("spmspm_ijk", "i=2+j=2"), ("spmspm_ikj", "k=2")):
        work = bind_program(name, ["random:size=9,density=0.5"])
        arch = Arch(lane_rows=1, lane_tokens=4)
        design = compile_workload(
            work, Schedule(lanes=choice("lanes").taken(lanes)), value=value_type("i32"), arch=arch
        )
        for share in (0, *SHARES * 4):
            seen[outcome(shallower(design, share, rng), work.tensors)] += 1
    assert seen["proved"] >= 10
    assert seen["unproved"] >= 10


def test_what_is_not_proved_is_written_as_json(tmp_path: Path) -> None:
    (tmp_path / "arch.json").write_text('{"slack": 0, "lane_rows": 0}')
    given = ("sddmm", "--data", "karate", "--lanes", "i=2", "--arch", str(tmp_path / "arch.json"))
    (region,) = report("compile", *given, "--channels")["regions"]
    assert {circle["index"] for circle in region["circles"]} == {"i"}
    assert {wait["for"] for circle in region["circles"] for wait in circle["waits"]} == {"token", "slot"}


def outcome(compiled: Compiled, tensors: Mapping[str, Tensor]) -> str:
    """Whether a design comes to its end; a deadlock of what is proved fails."""
    if not any(unproved_circles(region.graph, region.extent) for region in compiled.regions):
        run(compiled, tensors)
        return "proved"
    try:
        run(compiled, tensors)
    except DeadlockError:
        return "deadlock"
    return "unproved"


def fused_or_given(fused: Workload, program: Program) -> Compiled | None:
    """The design of a program as one region, or with the regions that it was given; None if both are
    refused."""
    for work in (fused, replace(fused, program=program)):
        with contextlib.suppress(ScheduleError):
            return compile_workload(work, value=value_type("i32"))
    return None


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs_at_their_depths(shard: int) -> None:
    seen: Counter[str] = Counter()
    circles: set[frozenset[str]] = set()

    @drawn(PROGRAMS // SHARDS, 1000 + shard)
    @given(chained_programs(integers=True), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        tensors = random_tensors(program, np.random.default_rng(number))
        fused = Workload("random", Schedule(fuse="full").apply(program), tensors)
        design = fused_or_given(fused, program)
        if design is None:
            seen["refused"] += 1
            return
        found = outcome(design, tensors)
        if found == "unproved":
            # Hypothesis varies what it has drawn: a program with the same circles is the same one again.
            graphs = [unproved_circles(region.graph, region.extent) for region in design.regions]
            waits = frozenset(str(circle) for graph in graphs for circle in graph)
            found = "unproved again" if waits in circles else found
            circles.add(waits)
        seen[found] += 1

    body()
    print(dict(seen))
    assert not seen["deadlock"]
    assert seen["unproved"] <= 1 + MOST_UNPROVED * sum(seen.values())


@pytest.mark.slow
def test_what_is_proved_of_less_deep_channels_runs() -> None:
    """Some of these designs deadlock, and none of them is proved."""
    seen: Counter[str] = Counter()

    @drawn(SHALLOWER, 7)
    @given(chained_programs(integers=True, max_extent=24), st.integers(0, 2**32 - 1))
    def body(program: Program, number: int) -> None:
        rng = np.random.default_rng(number)
        tensors = random_tensors(program, rng)
        try:
            fused = Workload("random", Schedule(fuse="full").apply(program), tensors)
            design = compile_workload(fused, value=value_type("i32"))
        except ScheduleError:
            return
        for share in SHARES:
            seen[outcome(shallower(design, share, rng), tensors)] += 1

    body()
    print(dict(seen))
    assert seen["proved"] >= SHALLOWER // 4
