"""The workloads of the FractalTensor paper: against loops of plain NumPy, in every order, bit for bit."""

import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samhw.lang import nested
from tests.nested.examples import FOLDER, example
from tests.nested.levels import asap, shape_of
from tests.support.plain_sequences import PLAIN

RNG = np.random.default_rng(7)


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [RNG.standard_normal(shape) for shape in shapes]


def listed(depths: list[int], values: list[Any]) -> list[nested.NestedTensor]:
    return [nested.nested_tensor(value, depth) for value, depth in zip(values, depths, strict=True)]


def every_order(function: Callable[..., Any], *lists: nested.NestedTensor) -> Any:
    """What a function gives at once, as an array; the same, to the bit, traced, with fused access maps,
    merged, and in the order of the wavefronts."""
    plain = function(*lists)
    results = plain if isinstance(plain, tuple) else (plain,)
    traced = nested.trace(function, *lists)
    found = nested.coarsened(traced)
    runs = [
        nested.evaluate(traced, *lists),
        nested.evaluate(nested.fuse_access_maps(traced), *lists),
        nested.evaluate(found.function, *lists),
        nested.evaluate(found.function, *lists, schedules=found.wavefronts),
    ]
    for run in runs:
        for one, other in zip(results, run if isinstance(run, tuple) else (run,), strict=True):
            assert one.type == other.type
            assert np.array_equal(one.array, other.array)
    return tuple(r.array for r in results) if isinstance(plain, tuple) else plain.array


def of_every_order(name: str, depths: list[int], given: list[Any], exactly: bool = True) -> None:
    """Every order gives what plain NumPy does, which computes the same to the bit or not."""
    found, expected = every_order(example(name)[name], *listed(depths, given)), PLAIN[name](*given)
    results = found if isinstance(found, tuple) else (found,)
    for one, other in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert np.array_equal(one, other) if exactly else np.allclose(one, other)


@pytest.mark.parametrize(("layers", "steps"), [(1, 1), (1, 8), (3, 1), (4, 8), (5, 3)])
def test_stacked_rnn(layers: int, steps: int) -> None:
    of_every_order("stacked_rnn", [2, 1], arrays((2, steps, 4), (layers, 4, 4)))


@pytest.mark.parametrize(("layers", "steps"), [(1, 8), (2, 1), (3, 8), (4, 2)])
def test_stacked_lstm(layers: int, steps: int) -> None:
    shapes = (2, steps, 4), (layers, 4, 4, 4), (layers, 4, 4, 4), (layers, 4, 4)
    of_every_order("stacked_lstm", [2, 2, 2, 2], arrays(*shapes))


@pytest.mark.parametrize(("layers", "steps"), [(3, 9), (3, 8), (3, 4), (3, 3), (4, 1), (1, 5)])
def test_dilated_rnn(layers: int, steps: int) -> None:
    """Lengths that no dilation divides, and that are no longer than one."""
    shapes = (steps, 4), (layers, 4, 4, 4), (layers, 4, 4, 4), (layers, 4, 4)
    of_every_order("dilated_rnn", [1, 2, 2, 2], arrays(*shapes))


@pytest.mark.parametrize(
    ("layers", "source", "target"), [(3, 4, 5), (1, 1, 1), (2, 1, 4), (1, 3, 1), (4, 2, 2)]
)
def test_grid_rnn(layers: int, source: int, target: int) -> None:
    weights = [(layers, 4, 4), (layers, 2, 4, 4), (layers, 4)]
    given = arrays((source, 4), (target, 4), *weights, *weights)
    of_every_order("grid_rnn", [1, 1, 1, 2, 1, 1, 2, 1], given)


def test_b2b_gemm() -> None:
    a, b, c = arrays((4, 8, 8), (2, 8, 8), (2, 8, 8))
    found = every_order(example("b2b_gemm")["b2b_gemm"], *listed([1, 1, 1], [a, b, c]))
    assert np.array_equal(found, [(rows @ b[0]) @ c[0] + (rows @ b[1]) @ c[1] for rows in a])
    assert np.allclose(found, PLAIN["b2b_gemm"](a, b, c))


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_flash_attention(blocks: int) -> None:
    given = arrays(*3 * [(blocks, 8, 8)])
    of_every_order("flash_attention", [1, 1, 1], given, exactly=False)


@pytest.mark.parametrize("blocks", [5, 8])
def test_bigbird_is_masked_attention(blocks: int) -> None:
    given = arrays(*3 * [(blocks, 4, 4)])
    of_every_order("bigbird_blocked", [1, 1, 1], given, exactly=False)


def test_bigbird_copies_nothing() -> None:
    blocks = nested.ListType((8,), (4, 4))
    found = nested.dependences(example("bigbird_blocked")["bigbird_blocked"], blocks, blocks, blocks)
    assert len(found.fused) == 17
    reads = {edge.text for edge in found.graph.edges if edge.buffer == "vs"}
    assert reads == {
        "vs[j] where 0 <= j < 1",
        "vs[i + j] where 1 <= j < 4",
        "vs[j + 3] where 4 <= j < 5",
    }


def before(distance: int, cell: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(cell[0] - distance,)]


LSTM = [(64, 32, 95, 32), (64, 8, 71, 8), (32, 32, 63, 32), (128, 32, 159, 32)]


@pytest.mark.parametrize(("steps", "layers", "rounds", "width"), LSTM)
def test_rounds_of_the_stacked_lstm(steps: int, layers: int, rounds: int, width: int) -> None:
    kind = nested.ListType
    weights = kind((layers, 4), (2, 2))
    types = [kind((3, steps), (2,)), weights, weights, kind((layers, 4), (2,))]
    (found,) = nested.dependences(example("stacked_lstm")["stacked_lstm"], *types).wavefronts
    assert (found.count, found.rounds, found.width) == (steps * layers, rounds, width)
    assert found.parallel == 3
    levels = asap((layers, steps), lambda c: [(c[0] - 1, c[1]), (c[0], c[1] - 1)])
    assert shape_of(levels) == (steps * layers, rounds, width)


@pytest.mark.parametrize(("steps", "one_by_one", "rounds"), [(50, 101, 55), (64, 126, 69), (128, 252, 133)])
def test_rounds_of_the_dilated_rnn(steps: int, one_by_one: int, rounds: int) -> None:
    kind = nested.ListType
    weights = kind((6, 4), (2, 2))
    found = nested.dependences(
        example("dilated_rnn")["dilated_rnn"], kind((steps,), (2,)), weights, weights, kind((6, 4), (2,))
    )
    (stack,) = found.wavefronts
    assert (stack.count, stack.rounds, stack.width) == (6 * steps, rounds, 6)
    levels = asap((6, steps), lambda c: [(c[0] - 1, c[1]), (c[0], c[1] - 2 ** c[0])])
    # The longest path; cells that start earlier wait, and cost nothing.
    assert max(levels.values()) + 1 == rounds
    alone = [nested.hyperplane(found.function, block) for block in found.function.blocks]
    assert sum(w.rounds for w in alone if w is not None) == one_by_one
    for d, wavefront in enumerate(alone):
        assert wavefront is not None
        own = asap((steps,), partial(before, 2**d))
        assert shape_of(own) == (steps, wavefront.rounds, wavefront.width)
        assert own == {cell: m for m in range(wavefront.rounds) for cell in wavefront.cells(m)}


GRID = [(32, 10, 50, 100), (32, 7, 44, 49), (32, 5, 40, 25), (8, 10, 26, 64), (1, 10, 19, 10)]


@pytest.mark.parametrize(("layers", "side", "rounds", "width"), GRID)
def test_rounds_of_the_grid_rnn(layers: int, side: int, rounds: int, width: int) -> None:
    grid = example("grid_rnn")
    found = nested.dependences(grid["grid_rnn"], *grid["types"](layers, side, side, 2))
    (wavefront,) = found.wavefronts
    assert (wavefront.count, wavefront.rounds, wavefront.width) == (layers * side * side, rounds, width)
    (block,) = found.function.blocks
    assert len(nested.regions(found.function, block)) == (8 if layers > 1 else 4)
    levels = asap(
        (layers, side, side), lambda c: [tuple(x - (n == k) for n, x in enumerate(c)) for k in range(3)]
    )
    assert shape_of(levels) == (layers * side * side, rounds, width)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_an_example_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed
    assert "False" not in printed
