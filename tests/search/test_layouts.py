"""Orders of rows and splits that a search tries: where lanes are uneven, and only what is left open."""

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import Workload, job_of
from samhw.choices.permute_rows import candidates as row_orders
from samhw.choices.schedule import Schedule
from samhw.choices.split import candidates as splits
from samhw.compiler.pipeline import choose_schedule, compile_job
from samhw.compiler.search import Job, Room
from samhw.compiler.search.explore import explore
from samhw.compiler.search.tried import Start
from samhw.compiler.search.work import Load, lane_loads
from samhw.cost import Budget
from samhw.lang import load_kernel
from samhw.targets.backends import run
from samhw.tensors import Tensor


def workload(*, even: bool = False) -> Workload:
    """SpMM with 24 rows of one entry, and unless they are even 8 of eleven, all in one of four lanes."""
    array = np.zeros((32, 16), np.int64)
    array[:, 0] = 1
    if not even:
        array[::4, 1:11] = 1
    dense = Tensor.from_dense(np.ones((16, 8), np.int64), "dense")
    return Workload("rows", load_kernel("spmm").unbound, {"A": Tensor.from_dense(array, "csr"), "X": dense})


def loads(held: Workload, schedule: Schedule) -> list:
    return list(lane_loads(held.program, schedule, held.statistics(schedule=schedule)))


def layouts(schedule: Schedule, load: Load) -> list[Schedule]:
    return [*row_orders.even_orders(schedule, load), *splits.even_splits(schedule, load)]


def near(schedule: Schedule, given: Schedule) -> list[Schedule]:
    held = workload()
    at = Start(Job(held.program, given), schedule, compile_job(job_of(held, Schedule())), {})
    return [*row_orders.neighbours(at), *splits.neighbours(at)]


def test_loads_by_hand() -> None:
    (load,) = loads(workload(), Schedule(lanes={"i": 4}))
    assert (load.tensor, load.lanes, load.entries, load.busiest, load.longest) == ("A", 4, 112, 88, 11)
    assert load.least == 28 / 88
    (load,) = loads(workload(), Schedule(lanes={"i": 4}, permute_rows={"A": "even(4)"}))
    assert load.busiest == 28
    assert loads(workload(), Schedule()) == []
    assert loads(workload(), Schedule(lanes={"k": 4})) == []


def test_what_is_tried() -> None:
    schedule = Schedule(lanes={"i": 4})
    (load,) = loads(workload(), schedule)
    tried = [(one.permute_rows.get("A"), one.split.get("A")) for one in layouts(schedule, load)]
    assert tried == [
        ("even(4)", None),
        ("by length", None),
        (None, "even(4)"),
        (None, "hyb(1,2)"),
        (None, "hyb(1,3)"),
    ]
    (load,) = loads(workload(even=True), schedule)
    assert layouts(schedule, load) == []


def test_what_is_near() -> None:
    split = Schedule(split={"A": "hyb(2,1)", "B": "rows(2)"}, permute_rows={"A": "by length"})
    given = Schedule(split={"B": "rows(2)"})
    found = [(one.split.get("A"), one.permute_rows.get("A")) for one in near(split, given)]
    assert found == [
        ("hyb(2,1)", None),
        (None, "by length"),
        ("hyb(2,0)", "by length"),
        ("hyb(2,2)", "by length"),
        ("hyb(4,1)", "by length"),
        ("hyb(1,1)", "by length"),
    ]
    assert near(given, given) == []


def test_lanes_are_made_even() -> None:
    held = workload()
    found = choose_schedule(job_of(held, Schedule(fuse="auto", lanes={"i": 4}, deal={"i": "turns"})))
    assert found.schedule.permute_rows or found.schedule.split
    assert any("the busiest of 4 lanes had 88 entries, where the mean has 28" in line for line in found.why)
    result = run(found.compiled, held.tensors)
    assert check(held, found.compiled, result.outputs).good
    assert result.cycles == pytest.approx(found.cycles, rel=0.15)


def test_even_lanes_and_what_is_given_stay() -> None:
    found = choose_schedule(job_of(workload(even=True), Schedule(fuse="auto", lanes={"i": 4})))
    assert not found.schedule.permute_rows
    assert not found.schedule.split
    given = Schedule(fuse="auto", lanes={"i": 4}, permute_rows={"A": "by length"})
    found = choose_schedule(job_of(workload(), given))
    assert found.schedule.permute_rows == {"A": "by length"}
    assert not found.schedule.split


def test_banks_leave_room_for_more_lanes() -> None:
    values = np.random.default_rng(0)
    stored = {
        "A": Tensor.from_dense((values.random((64, 32)) < 0.2).astype(int), "csr"),
        "X": Tensor.from_dense(values.integers(1, 9, (32, 256)), "dense"),
    }
    held = Workload("rows", load_kernel("spmm").unbound, stored)
    room = Room(frozenset({"lanes"}), Budget("ecp5", {"block_rams": 120}))
    found = choose_schedule(job_of(held, Schedule(fuse="auto"), room=room))
    assert found.schedule.interleave == ("X.vals",)
    assert found.schedule.lanes == {"i": 16}
    assert found.area.use.block_rams <= 120
    # As many lanes as have room with copies take more than three times as long.
    assert any(line.startswith("interleave: X.vals, about 8,475 cycles instead of 28") for line in found.why)
    given = choose_schedule(job_of(held, Schedule(fuse="auto", interleave="all"), room=room))
    assert given.schedule.interleave == "all"


def test_a_search_finds_them_too() -> None:
    request = job_of(workload(), Schedule(fuse="auto"), room=Room(frozenset({"lanes"})))
    found = explore(request, 4.0, lambda one: one.cycles)
    assert found[0].schedule.permute_rows or found[0].schedule.split
