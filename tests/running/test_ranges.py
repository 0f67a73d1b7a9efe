"""Ranges of rows: where they end, what lies in a bank, and what a host does about data that do not fit."""

import numpy as np
import pytest

import samhw
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph import dumps, loads
from samhw.lang import Capacity, load_kernel, parse
from samhw.targets.backends import run
from samhw.targets.running.images import load
from samhw.tensors import Tensor
from samhw.tensors.ranges import RangeLimit, even_ranges, in_ranges, row_works

IN_RANGES = {"lanes": {"i": 3}, "deal": {"i": "ranges"}}
SPMV = "tensor B[i, j] : csr\ntensor c[j] : dense\ntensor x[i] : dense\nx[i] = B[i, j] * c[j]    order i, j\n"
ROWS = np.array([[1, 2, 3, 4], [0, 0, 0, 0], [0, 5, 0, 0], [6, 0, 0, 0], [0, 0, 7, 8], [0, 0, 0, 9]])
"""Of 4, 0, 1, 1, 2 and 1 entries, and so of 5, 1, 2, 2, 3 and 2 to do."""


@pytest.mark.parametrize(
    ("work", "count", "ends"),
    [
        ([5, 1, 2, 2, 3, 2], 3, [0, 1, 4, 6]),
        ([5, 1, 2, 2, 3, 2], 1, [0, 6]),
        ([1, 1], 4, [0, 1, 2, 2, 2]),
        ([], 2, [0, 0, 0]),
        ([9, 1, 1], 2, [0, 1, 3]),
    ],
)
def test_the_busiest_range_has_as_little_as_can_be(work: list[int], count: int, ends: list[int]) -> None:
    assert even_ranges([np.array(work, int)], count) == ends


def test_a_compressed_level_is_scanned_for_each_row() -> None:
    a = Tensor.from_dense(ROWS, "csr"), "ik"
    stored = Tensor.from_dense(np.array([[1, 1, 1], [0, 0, 0], [0, 1, 1], [0, 1, 0]]), "dcsr")
    _, scanned = row_works([a], [(stored, "kj")])
    assert list(scanned) == [4] * 6
    assert len(row_works([a], [(stored, "lj")])) == 1


def test_rows_of_a_dense_result_take_as_long_as_they_are() -> None:
    a = Tensor.from_dense(ROWS, "csr"), "ik"
    read, written = row_works([a], written=[9])
    assert list(written) == [10] * 6
    # To write takes longer: each lane has two rows, whatever it reads.
    assert even_ranges([read, written], 3) == [0, 2, 4, 6]
    assert even_ranges([read], 3) == [0, 1, 4, 6]


def test_ranges_keep_to_what_they_have_room_for() -> None:
    work = np.array([5, 1, 1, 1, 1, 1])
    assert even_ranges([work], 2) == [0, 1, 6]
    assert even_ranges([work], 2, [RangeLimit(np.ones(6, int), 3)]) == [0, 3, 6]
    assert even_ranges([work], 2, [RangeLimit(np.ones(6, int), 2)]) is None


def test_an_entry_counts_as_much_as_the_row_that_it_leads_to() -> None:
    a = Tensor.from_dense(ROWS, "csr"), "ik"
    lengths = Tensor.from_dense(np.array([[1, 1, 1], [0, 0, 0], [0, 1, 1], [0, 1, 0]]), "csr")
    dense, vector = (Tensor.from_dense(np.ones(shape), "dense") for shape in ((4, 7), (4,)))
    # Of A's columns 0 to 3, B has 3, 0, 2 and 1 entries; one of none counts 1.
    assert list(row_works([a], [(lengths, "kj")])[0]) == [8, 1, 2, 4, 4, 2]
    assert list(row_works([a], [(dense, "kj")])[0]) == [29, 1, 8, 8, 15, 8]
    assert list(row_works([a], [(vector, "k")])[0]) == [5, 1, 2, 2, 3, 2]


@pytest.mark.parametrize("format", ["csr", "dcsr", "dense", "(dense, compressed) @ (1, 0)", "ell(4)", "coo"])
def test_rows_of_a_range_count_from_0(format: str) -> None:
    tensor = Tensor.from_dense(ROWS, format)
    outermost = tensor.format.mode_order[0]
    ends = [0, 1, 1, ROWS.shape[outermost]]
    parts = in_ranges(tensor, ends)
    assert [str(part.format) for part in parts] == [str(tensor.format)] * 3
    joined = np.concatenate([part.to_dense() for part in parts], axis=outermost)
    assert np.array_equal(joined, ROWS)


def compiled(capacity: Capacity | None = None, text: str = SPMV) -> Compiled:
    return compile_job(
        Job(parse(text), Schedule(**IN_RANGES), capacity=capacity or Capacity({"i": 6, "j": 4}, {"B": 9}))
    )


def test_banks_hold_the_rows_of_their_lane() -> None:
    design = compiled().design
    given = {"B": Tensor.from_dense(ROWS, "csr"), "c": Tensor.from_dense(np.arange(4), "dense")}
    words, extents = load(design, given)
    assert list(row_works([(given["B"], "ij")])[0]) == [5, 1, 2, 2, 3, 2]
    assert [extents[f"i_{lane}_of_3"] for lane in range(3)] == [1, 3, 2]
    assert {name: list(array) for name, array in words.items()} == {
        "B.pos1.0": [0, 4],
        "B.crd1.0": [0, 1, 2, 3],
        "B.vals.0": [1, 2, 3, 4],
        "B.pos1.1": [0, 0, 1, 2],
        "B.crd1.1": [1, 0],
        "B.vals.1": [5, 6],
        "B.pos1.2": [0, 2, 3],
        "B.crd1.2": [2, 3, 3],
        "B.vals.2": [7, 8, 9],
        "c.vals": [0, 1, 2, 3],
    }
    assert loads(dumps(design)) == design


def test_a_lane_runs_as_if_its_rows_were_all() -> None:
    design = compiled().design
    (graph,) = design.regions
    alone = compile_job(Job(parse(SPMV), capacity=Capacity({"i": 6, "j": 4}, {"B": 9}))).design.regions[0]
    assert len(graph.nodes) == 3 * len(alone.nodes)
    assert {c.depth for c in graph.channels} == {c.depth for c in alone.channels}
    assert not any(node.spec.distribution(node.params) for node in graph.nodes)


def test_room_without_data_is_a_share_and_an_eighth_more() -> None:
    design = compiled(Capacity({"i": 3_000, "j": 4_000}, {"B": 60_000})).design
    # 60,000 / 3 * 9 / 8 = 22,500, to a multiple of 512; 3,000 / 3 * 9 / 8 = 1,125, of 64.
    assert design.memory["B.crd1.2"].capacity == 22_528
    assert design.extents["i_2_of_3"] == 1_152
    assert design.memory["B.pos1.0"].capacity == 1_153


def test_other_data_are_balanced_anew_or_refused_with_the_numbers() -> None:
    design = compiled(Capacity({"i": 600, "j": 40}, {"B": 1_500})).design
    assert design.memory["B.vals.0"].capacity == 1_024
    c = Tensor.from_dense(np.arange(40), "dense")

    def loaded(lengths: list[int]) -> dict[str, int]:
        rows = np.repeat(np.arange(len(lengths)), lengths)
        coords = [rows, np.concatenate([np.arange(n) for n in lengths])]
        tensor = Tensor.from_coo(np.array(coords), np.ones(len(rows)), (len(lengths), 40), "csr")
        return load(design, {"B": tensor, "c": c})[1]

    even = loaded([2] * 600)
    assert [even[f"i_{lane}_of_3"] for lane in range(3)] == [200, 200, 200]
    # Of equal work, the last lane would have 526 empty rows, and has room for 256.
    uneven = loaded([40] * 25 + [0] * 526)
    assert max(uneven[f"i_{lane}_of_3"] for lane in range(3)) == 256
    with pytest.raises(InputError, match=r"No 3 ranges of rows hold 600 rows, 3,200 entries of 'B', since"):
        loaded([40] * 80 + [0] * 520)


def test_a_design_in_python_takes_other_data_in_ranges() -> None:
    design = samhw.compile("x[i] = B[i, j] * c[j]", formats={"B": "csr"}, value="i32", schedule=IN_RANGES)
    for rows in (ROWS, ROWS[::-1], ROWS[:2], ROWS * 0):
        assert np.array_equal(design.run(B=rows, c=np.arange(4))["x"], rows @ np.arange(4))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("tensor A[i=4, j=4] : csr\ntensor y[j] : dense\ny[j] = A[i, j]    order i, j", "does not have it"),
        ("tensor a[i=4] : dense\ntensor y[i] : dense\ny[i] = cumsum(i, a[i])", "depends on others"),
        ("tensor A[i=4, j=4] : dia\ntensor y[i] : dense\ny[i] = A[i, j]", "by the number of their row"),
        ("tensor A[i=4, j=4] : csr\ntensor T[i, k] : dense\nT[i, k] = A[i, j] * A[j, k]", "reads other rows"),
        (
            "tensor A[i=4, j=4] : csr\ntensor T[i, j] : csr\ntensor y[j] : dense\nT[i, j] = A[i, j]\n"
            "y[j] = T[i, j]    order i, j",
            "other regions read 'T'",
        ),
        ("tensor A[i=4, j=4] : csr\ntensor y[j] : dense\ny[j] = A[j, i]", "other indices stand outside"),
    ],
)
def test_what_cannot_have_ranges_says_why(text: str, cause: str) -> None:
    with pytest.raises(InputError, match=f"Lanes on 'i' cannot have ranges of rows: .*{cause}"):
        compile_job(Job(parse(text), Schedule(**IN_RANGES)))


def test_ranges_need_lanes() -> None:
    with pytest.raises(InputError, match="'deal' names 'i', which has no lanes"):
        compile_job(Job(parse(SPMV), Schedule(deal={"i": "ranges"}), capacity=Capacity({"i": 6, "j": 4})))
    with pytest.raises(InputError, match="There is no deal 'shuffled'"):
        Schedule(deal={"i": "shuffled"})


def test_64_lanes_are_61_times_as_fast() -> None:
    work = bind_program("spmv", ["random:size=2048,density=0.01"])
    one, many = (
        run(compile_workload(work, Schedule(**fields)), work.tensors).cycles
        for fields in ({}, {"lanes": {"i": 64}, "deal": {"i": "ranges"}})
    )
    assert (one, many) == (44_015, 721)


def test_no_row_is_there_for_most_lanes() -> None:
    work = bind_program(load_kernel("spmv").name, ["random:size=2"])
    found = run(compile_workload(work, Schedule(lanes={"i": 5}, deal={"i": "ranges"})), work.tensors)
    assert found.outputs["x"].shape == (2,)
