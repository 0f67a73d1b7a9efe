"""The workloads of the FractalTensor paper: against loops of plain NumPy, in every order, bit for bit."""

import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samhw import nested
from tests.nested.examples import FOLDER, example
from tests.nested.levels import asap, shape_of

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


@pytest.mark.parametrize(("layers", "steps"), [(1, 1), (1, 8), (3, 1), (4, 8), (5, 3)])
def test_stacked_rnn(layers: int, steps: int) -> None:
    x, w = arrays((2, steps, 4), (layers, 4, 4))
    found = every_order(example("stacked_rnn")["stacked_rnn"], *listed([2, 1], [x, w]))
    expected = np.zeros((2, layers, steps, 4))
    for n in range(2):
        for d in range(layers):
            for t in range(steps):
                below = expected[n, d - 1, t] if d else x[n, t]
                expected[n, d, t] = below @ w[d] + (expected[n, d, t - 1] if t else 0)
    assert np.array_equal(found, expected)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm(x: Any, h: Any, c: Any, w: Any, u: Any, b: Any) -> tuple[Any, Any]:
    """A cell whose gates are input, forget, output, candidate."""
    z = [x @ w[k] + h @ u[k] + b[k] for k in range(4)]
    c = sigmoid(z[1]) * c + sigmoid(z[0]) * np.tanh(z[3])
    return sigmoid(z[2]) * np.tanh(c), c


@pytest.mark.parametrize(("layers", "steps"), [(1, 8), (2, 1), (3, 8), (4, 2)])
def test_stacked_lstm(layers: int, steps: int) -> None:
    x, w, u, b = arrays((2, steps, 4), (layers, 4, 4, 4), (layers, 4, 4, 4), (layers, 4, 4))
    found = every_order(example("stacked_lstm")["stacked_lstm"], *listed([2, 2, 2, 2], [x, w, u, b]))
    expected = x.copy()
    for n in range(2):
        for d in range(layers):
            h = c = np.zeros(4)
            for t in range(steps):
                h, c = lstm(expected[n, t], h, c, w[d], u[d], b[d])
                expected[n, t] = h
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(("layers", "steps"), [(3, 9), (3, 8), (3, 4), (3, 3), (4, 1), (1, 5)])
def test_dilated_rnn(layers: int, steps: int) -> None:
    """Lengths that no dilation divides, and that are no longer than one."""
    x, w, u, b = arrays((steps, 4), (layers, 4, 4, 4), (layers, 4, 4, 4), (layers, 4, 4))
    found = every_order(example("dilated_rnn")["dilated_rnn"], *listed([1, 2, 2, 2], [x, w, u, b]))
    expected = x
    for d in range(layers):
        h, c = np.zeros((steps, 4)), np.zeros((steps, 4))
        for t in range(steps):
            before = t - 2**d
            h0, c0 = (h[before], c[before]) if before >= 0 else (np.zeros(4), np.zeros(4))
            h[t], c[t] = lstm(expected[t], h0, c0, w[d], u[d], b[d])
        expected = h
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("layers", "source", "target"), [(3, 4, 5), (1, 1, 1), (2, 1, 4), (1, 3, 1), (4, 2, 2)]
)
def test_grid_rnn(layers: int, source: int, target: int) -> None:
    weights = [(layers, 4, 4), (layers, 2, 4, 4), (layers, 4)]
    src, trg, *rest = arrays((source, 4), (target, 4), *weights, *weights)
    lists = listed([1, 1, 1, 2, 1, 1, 2, 1], [src, trg, *rest])
    found = every_order(example("grid_rnn")["grid_rnn"], *lists)
    wx, ux, bx, wy, uy, by = rest
    below = {(i, j): (src[i], trg[j]) for i in range(source) for j in range(target)}
    for d in range(layers):
        here: dict[tuple[int, int], tuple[Any, Any]] = {}
        for i in range(source):
            for j in range(target):
                up = here[i - 1, j][0] if i else np.zeros(4)
                left = here[i, j - 1][1] if j else np.zeros(4)
                x, y = below[i, j]
                here[i, j] = (
                    np.tanh(x @ wx[d] + (up @ ux[d, 0] + left @ ux[d, 1]) + bx[d]),
                    np.tanh(y @ wy[d] + (up @ uy[d, 0] + left @ uy[d, 1]) + by[d]),
                )
        below = here
    for part, result in enumerate(found):
        expected = [[below[i, j][part] for j in range(target)] for i in range(source)]
        assert np.array_equal(result, expected)


def test_b2b_gemm() -> None:
    a, b, c = arrays((4, 8, 8), (2, 8, 8), (2, 8, 8))
    found = every_order(example("b2b_gemm")["b2b_gemm"], *listed([1, 1, 1], [a, b, c]))
    blocks = [(rows @ b[0]) @ c[0] + (rows @ b[1]) @ c[1] for rows in a]
    assert np.array_equal(found, blocks)
    whole = a.reshape(32, 8) @ np.concatenate(list(b), axis=1) @ c.reshape(16, 8)
    assert np.allclose(found.reshape(32, 8), whole)


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_flash_attention(blocks: int) -> None:
    q, k, v = arrays(*3 * [(blocks, 8, 8)])
    found = every_order(example("flash_attention")["flash_attention"], *listed([1, 1, 1], [q, k, v]))
    q, k, v = (x.reshape(-1, 8) for x in (q, k, v))
    weights = np.exp(q @ k.T)
    assert np.allclose(found.reshape(-1, 8), weights @ v / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("blocks", [5, 8])
def test_bigbird_is_masked_attention(blocks: int) -> None:
    q, k, v = arrays(*3 * [(blocks, 4, 4)])
    found = every_order(example("bigbird_blocked")["bigbird_blocked"], *listed([1, 1, 1], [q, k, v]))
    for i in range(2, blocks - 2):
        seen = [0, i - 1, i, i + 1, blocks - 1]
        weights = np.exp(np.concatenate([q[i] @ k[j].T for j in seen], axis=1))
        expected = weights @ np.concatenate([v[j] for j in seen]) / weights.sum(axis=1, keepdims=True)
        assert np.allclose(found[i - 2], expected)


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
