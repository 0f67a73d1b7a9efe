"""The hyperplane method: rounds that respect every dependence, bounds of regions, the transformation."""

import runpy
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from samhw.errors import RunError
from samhw.lang import nested
from samhw.lang.nested import ListType
from samhw.lang.nested.dataflow import BlockNode, Loop
from samhw.lang.nested.hyperplane import Wavefront, from_distances
from tests.nested.examples import FOLDER, example
from tests.nested.levels import asap


def stacked(layers: int, steps: int) -> tuple[nested.NestedFunction, Wavefront]:
    function = example("stacked_rnn")["stacked_rnn"]
    found = nested.dependences(function, ListType((2, steps), (4,)), ListType((layers,), (4, 4)))
    (wavefront,) = found.wavefronts
    return found.function, wavefront


@pytest.mark.parametrize(("layers", "steps"), [(3, 8), (8, 3), (5, 5), (2, 2)])
def test_table_5(layers: int, steps: int) -> None:
    """Region 3 of a stacked RNN, where neither layer nor step is the first: the bounds of that table."""
    function, wavefront = stacked(layers, steps)
    *_, last = nested.regions(function, function.blocks[0])
    assert last == ((0, 2), (1, layers), (1, steps))
    expected = {
        (m, d, n, m - d)
        for m in range(2, steps + layers - 1)
        for d in range(max(1, m - steps + 1), min(m, layers))
        for n in range(2)
    }
    found = {(m, d, n, t) for m in range(wavefront.rounds) for n, d, t in wavefront.cells(m, last)}
    assert found == expected
    assert wavefront.bounds(last) == (
        f"2 <= m < {steps + layers - 1}",
        f"max(1, m - {steps - 1}) <= j < min({layers}, m)",
        "0 <= i < 2",
        "k = m - j",
    )


def test_regions_of_the_grid() -> None:
    """Region 8 of a grid RNN, of the notes on the paper."""
    layers, source, target = 3, 4, 5
    grid = example("grid_rnn")
    found = nested.dependences(grid["grid_rnn"], *grid["types"](layers, source, target, 2))
    (wavefront,) = found.wavefronts
    *_, last = nested.regions(found.function, found.function.blocks[0])
    expected = [
        (d, i, m - d - i)
        for m in range(3, layers + source + target - 2)
        for d in range(max(1, m - source - target + 2), min(m - 1, layers))
        for i in range(max(1, m - d - target + 1), min(m - d, source))
    ]
    assert [cell for m in range(wavefront.rounds) for cell in wavefront.cells(m, last)] == expected


def test_figure_6() -> None:
    """With operations as loops, the block of a stacked RNN is batch, layer, step and column, and the columns
    of a row are reduced inside. The layer carries no reuse, batch and column do."""
    function = example("stacked_rnn")["stacked_rnn"]
    traced = nested.trace(function, ListType((2, 5), (4,)), ListType((3,), (4, 4)))
    found = nested.coarsened(nested.operations_as_loops(traced))
    (block,) = found.function.blocks
    assert [loop.operator for loop in block.loops] == ["map", "scanl", "scanl", "map"]
    (inner,) = [item for item in block.body if isinstance(item, BlockNode)]
    assert [loop.operator for loop in inner.loops] == ["reduce"]
    (wavefront,) = found.wavefronts
    assert wavefront.distances == ((0, 1, 0, None), (0, 0, 1, 0))
    assert wavefront.transformation == ((0, 1, 1, 0), (0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1))


def test_what_it_says() -> None:
    _, wavefront = stacked(3, 8)
    assert str(wavefront) == (
        "map i < 2, scanl j < 3, scanl k < 8: m = j + k, then j, i; distances (0, 1, 0), (0, 0, 1); 24 cells "
        "in 10 rounds, at most 3 at once"
    )


def made(extents: list[int], distances: list[tuple[int, ...]]) -> Wavefront | None:
    """The rounds of a block with given distances."""
    loops = tuple(Loop(f"t{n}", extent, "scanl") for n, extent in enumerate(extents))
    return from_distances((BlockNode(loops, ()),), loops, tuple(distances), set())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_distances(data: Any) -> None:
    """Every cell once, in a round after all that it needs; the transformation has determinant 1 or -1; and
    no rounds fewer than the longest path are possible."""
    rank = data.draw(st.integers(1, 3))
    extents = data.draw(st.lists(st.integers(1, 5), min_size=rank, max_size=rank))
    vector = st.tuples(*[st.integers(-2, 3)] * rank).filter(lambda d: d > (0,) * rank)
    distances = data.draw(st.lists(vector, min_size=1, max_size=3, unique=True))
    wavefront = made(extents, distances)
    assume(wavefront is not None)
    assert wavefront is not None
    when = {cell: m for m in range(wavefront.rounds) for cell in wavefront.cells(m)}
    assert sorted(when) == list(product(*map(range, extents)))
    assert sum(1 for m in range(wavefront.rounds) for _ in wavefront.cells(m)) == len(when)
    assert all(wavefront.time(cell) == m for cell, m in when.items())

    def needs(cell: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [tuple(t - e for t, e in zip(cell, d, strict=True)) for d in distances]

    assert all(when[other] < m for cell, m in when.items() for other in needs(cell) if other in when)
    assert wavefront.rounds > max(asap(extents, needs).values())
    assert abs(round(np.linalg.det(np.array(wavefront.transformation)))) == 1


def test_a_wrong_order_is_an_error() -> None:
    """The run itself notices, so that equal results in another order mean something."""
    function, wavefront = stacked(3, 4)

    class Backwards:
        blocks = wavefront.blocks

        def steps(self) -> Any:
            return reversed(list(wavefront.steps()))

    rng = np.random.default_rng(0)
    xss = nested.nested_tensor(rng.standard_normal((2, 4, 4)), 2)
    ws = nested.nested_tensor(rng.standard_normal((3, 4, 4)))
    with pytest.raises(RunError, match=r"t_2 is read at \[1, 1, 3\] before it is computed there"):
        nested.evaluate(function, xss, ws, schedules=[Backwards()])


def test_any_order_inside_of_a_round() -> None:
    function, wavefront = stacked(3, 4)
    rng = np.random.default_rng(0)

    class Shuffled:
        blocks = wavefront.blocks

        def steps(self) -> Any:
            for m in range(wavefront.rounds):
                cells = list(wavefront.cells(m))
                rng.shuffle(cells)
                yield from ((wavefront.blocks[0], tuple(map(int, cell))) for cell in cells)

    xss = nested.nested_tensor(rng.standard_normal((2, 4, 4)), 2)
    ws = nested.nested_tensor(rng.standard_normal((3, 4, 4)))
    plain = nested.evaluate(function, xss, ws)
    assert np.array_equal(plain.array, nested.evaluate(function, xss, ws, schedules=[Shuffled()]).array)


def test_a_distance_that_varies_keeps_its_loop_out() -> None:
    """Each step reads the state backwards: rounds along the steps alone."""

    def function(xss: Any) -> Any:
        return xss.scanl(lambda s, xs: nested.zip(s[::-1], xs).map(lambda a, b: a * 2 + b), xss[0])

    found = nested.dependences(function, ListType((4, 3)))
    (wavefront,) = found.wavefronts
    assert wavefront.distances == ((1, None),)
    assert (wavefront.coefficients, wavefront.rounds, wavefront.parallel) == ((1, 0), 4, 3)


def test_neighbours_of_the_step_before() -> None:
    """A stencil: a step needs both neighbours of the one before, so that steps are the rounds."""

    def function(xs: Any, count: Any) -> Any:
        def step(s: Any, _: Any) -> Any:
            return s.slide(3, padding=1).map(lambda w: w.reduce(np.add))

        return count.foldl(step, xs)

    found = nested.dependences(function, ListType((6,)), ListType((4,)))
    xs, count = nested.nested_tensor(np.arange(6)), nested.nested_tensor(np.zeros(4))
    expected = function(xs, count).array
    assert np.array_equal(
        nested.evaluate(found.function, xs, count, schedules=found.wavefronts).array, expected
    )


def test_the_picture_is_what_is_found() -> None:
    docs = FOLDER.parents[1] / "docs"
    script = runpy.run_path(str(docs / "wavefront_picture.py"))
    assert (docs / "wavefront.svg").read_text(encoding="utf-8") == script["draw"](script["wavefront"]()), (
        "run python docs/wavefront_picture.py"
    )
