"""Queues: as deep as they are asked for, no slower on any program, and right; and what the estimate says.

A thousand random programs run on demand:

    SAMHW_RANDOM_QUEUES=1000 python -m pytest tests/graph_passes/test_queues.py -k random
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import scipy.sparse

import samhw
from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, add_queues
from samhw.cost.cycles import two_stages
from samhw.errors import InputError
from samhw.graph import Channel
from samhw.targets.backends import run
from tests.search.drawn import draw

RANDOM = int(os.environ.get("SAMHW_RANDOM_QUEUES", "25"))

LAYER = """
tensor A[i, j] : csr
tensor X[j, k]
tensor W[k, l]
T[i, k] = A[i, j] * X[j, k]
Y[i, l] = T[i, k] * W[k, l]
"""
"""Rows of T take as long as A has neighbours, those of Y all the same."""

EXTENTS = (60, 8, 4)
"""Of i and j, k, l."""

TOKENS = 9
"""Of a row of T, with its stop."""


def layer_data(*, even: bool = False, seed: int = 0) -> dict[str, object]:
    """A few long rows among short ones, or rows that are alike; about four entries each, as l has."""
    rng = np.random.default_rng(seed)
    n, k, width = EXTENTS
    lengths = np.full(n, width) if even else np.where(rng.random(n) < 0.08, 30, 3)
    rows = np.repeat(np.arange(n), lengths)
    columns = np.concatenate([rng.choice(n, length, replace=False) for length in lengths])
    ones = np.ones(len(rows), np.int64)
    return {
        "A": scipy.sparse.csr_array((ones, (rows, columns)), shape=(n, n)),
        "X": rng.integers(-9, 9, (n, k)),
        "W": rng.integers(-9, 9, (k, width)),
    }


def layer(rows: int = 0, **fields: object) -> samhw.RunnableDesign:
    queues = {"T": rows} if rows else {}
    schedule = {"fuse": "full", "queues": queues, **fields}
    return samhw.compile(LAYER, value="i32", schedule=schedule)


def channels(design: samhw.RunnableDesign) -> Mapping[str, Channel]:
    return {channel.name: channel for graph in design.compiled.design.regions for channel in graph.channels}


def test_room_is_for_so_many_rows() -> None:
    """After T's reducer, and on the ways that lead past it: one coordinate for each row."""
    data = layer_data()
    plain, queued = layer(), layer(5)
    plain.run(data)
    queued.run(data)
    before, after = channels(plain), channels(queued)
    added = {name: after[name].depth - before[name].depth for name in before}
    assert {name: tokens for name, tokens in added.items() if tokens} == {
        "scan_dense_A_i.crd->repeat_W_i.crd": 5,
        "root.out->repeat_W_i.ref": 1,
        "reduce_vector_t0.crd0->locate_W_k.crd": 5 * TOKENS,
        "reduce_vector_t0.val->repeat_T_l.ref": 5 * TOKENS,
        "scan_dense_A_i.crd->scan_dense_Y_l.ref": 5,
    }
    (region,) = queued.compiled.regions
    assert "queue after reduce_vector_t0.val" in region.reasons["reduce_vector_t0.val->repeat_T_l.ref"]


def test_each_side_takes_its_own_time() -> None:
    """With room for all rows the slower side sets the pace; with none each row takes as long as the slower
    one takes for it."""
    data = layer_data()
    cycles = [layer(rows).run(data).cycles for rows in (0, 1, 4, 16, 60)]
    assert cycles == sorted(cycles, reverse=True)
    lengths = np.diff(data["A"].indptr)  # type: ignore[attr-defined]
    n, k, width = EXTENTS
    slower = max(int(lengths.sum()) * (k + 1), n * k * (width + 1))
    apart = int(np.maximum(lengths * (k + 1), k * (width + 1)).sum())
    assert slower < cycles[-1] < 1.1 * slower
    assert cycles[0] > 0.9 * apart
    assert cycles[-1] < 0.9 * cycles[0]


@pytest.mark.parametrize("rows", [0, 2, 8, 60])
@pytest.mark.parametrize("even", [False, True])
def test_the_estimate_sees_them(rows: int, even: bool) -> None:
    data = layer_data(even=even)
    design = layer(rows)
    cycles = design.run(data).cycles
    assert design.estimate(data).cycles == pytest.approx(cycles, rel=0.06)


def test_the_search_takes_the_fewest_rows_that_serve() -> None:
    uneven = samhw.compile(LAYER, value="i32", schedule={"fuse": "auto", "brackets": {"T": "A*X"}})
    uneven.run(layer_data())
    assert set(uneven.compiled.schedule.queues) == {"T"}
    assert any(line.startswith("queues: T=") for line in uneven.compiled.why)
    even = samhw.compile(LAYER, value="i32", schedule={"fuse": "auto", "brackets": {"T": "A*X"}})
    even.run(layer_data(even=True))
    assert not even.compiled.schedule.queues


def test_lanes_have_queues_of_their_own() -> None:
    data = layer_data()
    plain, queued = layer(lanes={"i": 2}), layer(16, lanes={"i": 2})
    before, after = plain.run(data), queued.run(data)
    assert after.check().verdict == "right"
    assert after.cycles < before.cycles
    deeper = {
        channel.source.node
        for name, channel in channels(queued).items()
        if channel.depth >= channels(plain)[name].depth + 16 * TOKENS
    }
    assert deeper == {"reduce_vector_t0_i0", "reduce_vector_t0_i1"}


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        ({"U": 4}, "'queues' names 'U', which no statement of"),
        ({"Y": 4}, "'queues' names 'Y', which no statement of its own region reads"),
        ({"T": 0}, "'queues.T' is 0; give a whole number from 1"),
        (["T"], "'queues' is ['T']; give a table"),
    ],
)
def test_what_is_refused(queues: object, message: str) -> None:
    with pytest.raises(InputError) as found:
        samhw.compile(LAYER, value="i32", schedule={"fuse": "full", "queues": queues}).run(layer_data())
    assert message in str(found.value)


def test_nothing_is_reduced_before_it() -> None:
    text = "T[i] = relu(a[i])\ny = T[i] * b[i]"
    ones = np.ones(4)
    with pytest.raises(InputError, match="would not help: no sum, or other reduction, gives it row by row"):
        samhw.compile(text, fuse="full", schedule={"fuse": "full", "queues": {"T": 2}}).run(a=ones, b=ones)


def test_channels_may_be_limited() -> None:
    design = samhw.compile(
        LAYER, value="i32", schedule={"fuse": "full", "queues": {"T": 50}}, arch={"deepest": 400}
    )
    with pytest.raises(InputError, match=r"with the queue after reduce_vector_t0.*by 'deepest' of 'arch'"):
        design.run(layer_data())


def test_two_stages_by_hand() -> None:
    first, second = np.array([1.0, 9.0, 1.0]), np.array([4.0, 4.0, 4.0])
    # The second row ends at 10 where nothing holds it up; the third must wait for a place, or need not.
    assert two_stages(first, second, 9) == 18
    assert two_stages(first[::-1], second, 1) == 1 + 4 + 9 + 4 + 1 + 4
    assert two_stages(np.array([1.0, 1.0, 1.0, 9.0]), np.full(4, 3.0), 1) == 4 + 4 + 4 + 12
    assert two_stages(np.array([1.0, 1.0, 1.0, 9.0]), np.full(4, 3.0), 4) == 15


def with_queues(number: int) -> tuple[Workload, Compiled, Compiled] | None:
    """A random program without queues and with some; None for what is refused, or passes nothing on."""
    drawn = draw(number)
    if drawn is None:
        return None
    rng = Random(number)
    program = drawn.program.bind({name: tensor.shape for name, tensor in drawn.tensors.items()})
    work = Workload(f"random {number}", program, drawn.tensors)
    schedule = Schedule(fuse=rng.choice(("partial", "full")))
    try:
        plain = compile_workload(work, schedule)
        passed = sorted({c.tensor for region in plain.regions for c in region.computations})
        names = [name for name in passed if rng.random() < 0.7]
        queues = {name: rng.choice((1, 3, 10)) for name in names}
        queued = compile_workload(work, replace(schedule, queues=queues))
    except InputError:
        return None
    return (work, plain, queued) if names else None


@pytest.mark.slow
def test_random_programs_are_right_and_no_slower() -> None:
    seen = faster = number = 0
    while seen < RANDOM:
        number += 1
        found = with_queues(number)
        if found is None:
            continue
        work, plain, queued = found
        before, after = (run(one, work.tensors, engine="plain") for one in (plain, queued))
        assert check(work, queued, after.outputs).good, number
        added = add_queues(plain, queued.schedule.queues)
        assert (added.design, added.schedule) == (queued.design, queued.schedule), number
        assert [region.reasons for region in added.regions] == [region.reasons for region in queued.regions]
        assert after.cycles <= before.cycles, number
        seen += 1
        faster += after.cycles < before.cycles
    assert faster, seen


@pytest.mark.slow
@pytest.mark.verilator
def test_rtl_agrees() -> None:
    data = layer_data()
    design = layer(16)
    model, rtl = design.run(data), design.run(data, backend="verilator")
    assert rtl.cycles == model.cycles
    np.testing.assert_array_equal(rtl["Y"], model["Y"])
