"""Blocks as a decision of the search."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

import samhw
from samhw.app.workload import bind_program, job_of
from samhw.choices.blocks.candidates import larger_blocks, smaller_blocks
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import choose_schedule
from samhw.compiler.search import Job, Room
from samhw.cost import parse_budget
from samhw.graph import Arch
from samhw.lang import load_kernel

BLOCKS = frozenset({"blocks"})


def spmm(schedule: Mapping[str, object], room: Room, density: str = "0.3") -> Job:
    workload = bind_program("spmm", [f"random:density={density}"])
    given = replace(Schedule.from_fields(schedule), fuse="auto")
    return job_of(workload, given, arch=Arch(), room=room)


def test_blocks_are_chosen_where_they_are_asked_for() -> None:
    plain, blocked = (choose_schedule(spmm({}, Room(grown))) for grown in (frozenset[str](), BLOCKS))
    assert not plain.schedule.blocks
    assert blocked.schedule.blocks == {"i": 16, "j": 16, "k": 16}
    assert blocked.cycles < plain.cycles / 16
    assert any(line.startswith("blocks: i=16+j=16+k=16, about") for line in blocked.why)


def test_blocks_are_within_the_area() -> None:
    found = choose_schedule(spmm({}, Room(BLOCKS, parse_budget("luts=20000"))))
    assert found.schedule.blocks
    assert found.luts <= 20_000
    # The multipliers of a matmul count, though it has not been measured.
    assert "matmul mul integer" in found.area.caveat


def test_what_is_given_stays() -> None:
    found = choose_schedule(spmm({"blocks": {"k": 2}}, Room(BLOCKS)))
    assert found.schedule.blocks["k"] == 2


def test_what_differs_in_a_step() -> None:
    program = load_kernel("spmm").bind({"A": (8, 3), "X": (3, 4)})
    given = Schedule(blocks={"j": 2})
    sizes = [one.blocks for one in larger_blocks(program, given, given)]
    assert sizes == [{"i": 2, "j": 2, "k": 2}, {"i": 2, "j": 2}, {"j": 2, "k": 2}]
    some = Schedule(blocks={"i": 4, "j": 2, "k": 2})
    assert [one.blocks for one in smaller_blocks(some, given)] == [{"i": 2, "j": 2, "k": 2}, {"i": 4, "j": 2}]
    # Blocks are no larger than what has them.
    assert {"k": 4} not in [
        one.blocks for one in larger_blocks(program, Schedule(blocks={"k": 2}), Schedule())
    ]


def test_tune_confirms_them() -> None:
    rng = np.random.default_rng(0)
    design = samhw.compile(load_kernel("spmm"), value="i32")
    data = {"A": (rng.random((16, 16)) < 0.4) * 2.0, "X": rng.integers(-4, 5, (16, 16)).astype(float)}
    before = design.run(data)
    tuned = design.tune(data, budget=4, blocks=True, confirm=2)
    assert tuned.best.found.schedule.blocks
    after = design.run(data)
    np.testing.assert_array_equal(after.tensors["T"].to_dense(), before.tensors["T"].to_dense())
    assert after.check().good
    assert after.cycles < before.cycles / 4


@pytest.mark.parametrize("shape", [(3, 2, 4), (4, 2, 5)])
def test_auto_for_blocks_of_any_extents(shape: tuple[int, int, int]) -> None:
    """A design of open extents asks for masks along all blocked indices, of which an estimate knows."""
    text = "tensor D[i, j, l] : bdense(2)\ntensor m[i] : bdense(2)\nm[i] max= D[i, j, l]"
    design = samhw.compile(text, schedule="auto", value="i32")
    data = np.arange(np.prod(shape)).reshape(shape) - 5
    result = design.run(D=data)
    np.testing.assert_array_equal(result["m"], data.max((1, 2)))
    assert design.estimate().cycles > 0
