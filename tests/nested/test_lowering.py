"""Lowered functions: what the programs are, and that they give what the functions give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example as instance
from hypothesis import given, settings
from hypothesis import strategies as st

import samhw
from samhw.errors import InputError, SamhwError
from samhw.lang import nested
from samhw.lang.nested import ListType
from tests.nested.examples import example

RNG = np.random.default_rng(3)


def listed(depth: int, *shape: int) -> nested.NestedTensor:
    return nested.nested_tensor(RNG.standard_normal(shape), depth)


def run(
    function: Callable[..., Any],
    *arguments: Any,
    value: str = "f32",
    copies: bool = False,
    fuse: str | None = None,
) -> nested.LoweredFunction:
    """The lowered function, once its simulation has given what the function gives."""
    found = nested.lowered(nested.trace(function, *arguments), copies)
    done = samhw.compile(found.program, value=value, fuse=fuse).run(**found.inputs(*arguments))
    assert done.check().verdict == "right"
    expected, given = function(*arguments), found.results(done)
    for one, other in zip(_parts(expected), _parts(given), strict=True):
        assert one.shape == other.shape
        assert np.allclose(one, other, rtol=1e-4, atol=1e-4)
    return found


def _parts(value: Any) -> list[Any]:
    parts = value if isinstance(value, tuple) else (value,)
    return [getattr(part, "array", np.asarray(part)) for part in parts]


def statements(found: nested.LoweredFunction) -> list[str]:
    lines = found.program.text.splitlines()
    return [line.strip() for line in lines if not line.startswith(("index ", "tensor "))]


def test_maps_and_access_operators_are_indices() -> None:
    def function(xs: Any, w: Any) -> Any:
        windows = xs.slide(2, 2).map(lambda v: v.reduce(np.add, 0))
        return windows, xs[::-1].map(lambda x: np.tanh(x @ w))

    found = run(function, listed(1, 4, 3), RNG.standard_normal((3, 3)))
    assert statements(found) == [
        "t[i, x0] = xs[2*i + j, x0]",
        "t_2[i4, x0] = xs[-i4 + 3, s0] * w[s0, x0]",
        "t_3[i4, x0] = tanh(t_2[i4, x0])",
        "result0[a, x0] = t[a, x0]",
        "result1[a4, x0] = t_3[a4, x0]",
    ]


def test_a_scan_is_a_block() -> None:
    found = run(
        lambda xs, w: xs.scanl(lambda s, x: np.tanh(x + s @ w), np.zeros(3)),
        listed(1, 4, 3),
        RNG.standard_normal((3, 3)),
    )
    assert statements(found) == [
        "scan step {",
        "t[x0] = t_3[step - 1, s0] * w[s0, x0]",
        "t_3[step, x0] = tanh(xs[step, x0] + t[x0])",
        "}",
        "result[a, x0] = t_3[a, x0]",
    ]


def test_a_nest_of_scans_is_one_block_of_skewed_states() -> None:
    found = run(example("stacked_rnn")["stacked_rnn"], listed(2, 2, 4, 3), listed(1, 3, 3, 3))
    assert statements(found) == [
        "xss_at[step, i, j, s0] = xss[i, step - j, s0] where mask_2[step, j]",
        "scan step {",
        "t_2_at[i, j, s0] = t_2[step - 1, i, e0, s0] * pick[j, e0] where mask[step, j]",
        "s[i, j, s0] = xss_at[step, i, j, s0] + t_2_at[i, j, s0] where mask[step, j]",
        "t[i, j, x0] = s[i, j, s0] * ws[j, s0, x0] where mask[step, j]",
        "t_2[step, i, j, x0] = t[i, j, x0] + t_2[step - 1, i, j, x0] where mask[step, j]",
        "}",
        "t_2_rows[i, j, step, x0] = t_2[step, i, j, x0]",
        "result[a, b, c, x0] = t_2_rows[a, b, b + c, x0]",
    ]
    assert "step=6" in found.program.text  # Rounds: 4 + 3 - 1.
    (mask,) = [array for name, array in found.constants.items() if name == "mask"]
    assert mask.tolist() == [[int(0 <= m - d < 4) for d in range(3)] for m in range(6)]


def test_cells_of_a_diagonal_side_by_side() -> None:
    found = run(example("stacked_rnn")["stacked_rnn"], listed(2, 2, 4, 3), listed(1, 2, 3, 3), copies=True)
    assert statements(found) == [
        "scan step {",
        "t_0[i, x0] = xss_2[i, step, s0] * ws_0[s0, x0] where mask[step]",
        "t_2_0[step, i, x0] = t_0[i, x0] + t_2_0[step - 1, i, x0] where mask[step]",
        "t_1[i, x0] = t_2_0[step - 1, i, s0] * ws_1[s0, x0] where mask_2[step]",
        "t_2_1[step, i, x0] = t_1[i, x0] + t_2_1[step - 1, i, x0] where mask_2[step]",
        "}",
        "t_2_0_rows[i, step, x0] = t_2_0[step, i, x0]",
        "t_2_1_rows[i, step, x0] = t_2_1[step, i, x0]",
        "t_2[i, j, k, x0] = t_2_0_rows[i, k + 0, x0] * part[j] + t_2_1_rows[i, k + 1, x0] * part_2[j]",
        "result[a, b, c, x0] = t_2[a, b, c, x0]",
    ]
    # One step is a layer's first, and the layer above begins a step later.
    masks = [array.tolist() for name, array in found.constants.items() if name.startswith("mask")]
    assert masks == [[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]]
    assert {(p.parameter, p.items) for p in found.parts.values()} == {
        ("ws", (0,)),
        ("ws", (1,)),
        ("xss", (None, None)),
    }


def test_an_operation_is_part_of_the_expression_that_alone_reads_it() -> None:
    def function(xs: Any) -> Any:
        def cell(s: Any, x: Any) -> Any:
            twice = np.tanh(x) + 1
            return twice * s + twice

        return xs.scanl(cell, np.ones(3))

    found = run(function, listed(1, 4, 3))
    assert "t_2[x0] = tanh(xs[step, x0]) + 1" in statements(found)
    assert "t_4[step, x0] = t_2[x0] * s[x0] + t_2[x0]" in statements(found)


def test_states_that_begin_with_something() -> None:
    def function(xs: Any, start: Any) -> Any:
        return (
            xs.scanl(lambda s, x: s * x + 1, start),
            xs.scanr(lambda s, x: s * x + 1),
            xs.foldl(lambda s, x: s * x + x, 2),
            xs.dilated_map(lambda ys: ys.scanl(lambda s, x: s * x + 1, start), 2),
        )

    run(function, listed(1, 5, 3), RNG.standard_normal(3))


WORKLOADS: dict[str, list[tuple[int, ...]]] = {
    "stacked_lstm": [(2, 2, 3, 3), (2, 2, 4, 3, 3), (2, 2, 4, 3, 3), (2, 2, 4, 3)],
    "dilated_rnn": [(1, 5, 3), (2, 2, 4, 3, 3), (2, 2, 4, 3, 3), (2, 2, 4, 3)],
    "b2b_gemm": [(1, 4, 4, 4), (1, 3, 4, 4), (1, 3, 4, 4)],
    "flash_attention": [(1, 2, 4, 4), (1, 3, 4, 4), (1, 3, 4, 4)],
    "bigbird_blocked": [(1, 6, 4, 4), (1, 6, 4, 4), (1, 6, 4, 4)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.filterwarnings("ignore:invalid value encountered")  # The first maximum of attention is -inf.
def test_a_workload(name: str) -> None:
    run(example(name)[name], *(listed(depth, *shape) for depth, *shape in WORKLOADS[name]))


def grid_shapes(layers: int, source: int, target: int) -> list[tuple[int, ...]]:
    types = example("grid_rnn")["types"](layers, source, target, 2)
    return [(len(t.extents), *t.extents, *t.shape) for t in types]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("stacked_lstm", [(2, 2, 3, 2), (2, 2, 4, 2, 2), (2, 2, 4, 2, 2), (2, 2, 4, 2)]),
        ("stacked_lstm", [(2, 1, 3, 2), (2, 1, 4, 2, 2), (2, 1, 4, 2, 2), (2, 1, 4, 2)]),
        ("dilated_rnn", [(1, 3, 2), (2, 2, 4, 2, 2), (2, 2, 4, 2, 2), (2, 2, 4, 2)]),
        ("grid_rnn", grid_shapes(2, 2, 2)),
        ("grid_rnn", grid_shapes(1, 1, 2)),
    ],
)
def test_a_workload_side_by_side(name: str, shapes: list[tuple[int, ...]]) -> None:
    """In one region each, which has all cells of a diagonal."""
    run(example(name)[name], *(listed(depth, *shape) for depth, *shape in shapes), copies=True, fuse="full")


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@instance(seed=14)  # A row at a computed place.
@instance(seed=53)  # The step at a fixed place, a row at a computed one.
@instance(seed=243335670)  # A row inside of the step.
@instance(seed=1292)  # One item of a list of numbers.
@given(seed=st.integers(0, 2**31))
def test_random_nests_of_scans_in_integers(seed: int) -> None:
    """A nest of one or two scans, each to the left or to the right, over layers and steps, with a batch or
    without one: exact in integers."""
    rng = np.random.default_rng(seed)
    layers, steps, batch = (int(n) for n in rng.integers(1, 4, 3))
    outer, inner = (["scanl", "scanr", "foldl", "foldr"][n] for n in (rng.integers(4), rng.integers(2)))
    start = int(rng.integers(-2, 3))
    factor = int(rng.integers(-1, 2))

    def layer(ss: Any, w: Any) -> Any:
        return getattr(ss, inner)(lambda s, x: x * w + s * factor - 1, start)

    def function(xss: Any, ws: Any) -> Any:
        return xss.map(lambda xs: getattr(ws, outer)(layer, xs))

    xss = nested.nested_tensor(rng.integers(-2, 3, (batch, steps)), 2)
    ws = nested.nested_tensor(rng.integers(-2, 3, layers))
    for copies in (False, True):
        found = nested.lowered(nested.trace(function, xss, ws), copies)
        done = samhw.compile(found.program, value="i32").run(**found.inputs(xss, ws))
        assert np.array_equal(found.results(done).array, function(xss, ws).array)


def test_what_cannot_be_said() -> None:
    def between(xss: Any) -> Any:
        return xss.scanl(lambda s, xs: xs.foldl(lambda t, x: t * x + s, 1), 0)

    def backwards(xss: Any) -> Any:
        return xss.scanl(lambda s, xs: nested.zip(s, xs).scanl(lambda t, a, b: t * a + s[-1] * b, 1), xss[0])

    for function in (between, backwards):
        with pytest.raises(InputError, match="a program has only nests of scans"):
            nested.lowered(nested.trace(function, ListType((3, 4))))


def test_inputs_are_checked() -> None:
    found = nested.lowered(nested.trace(lambda xs: xs.map(lambda x: x + 1), ListType((4,), (1, 2))))
    assert found.inputs(np.zeros((4, 1, 2)))["xs"].shape == (4, 2)
    with pytest.raises(SamhwError, match=r"parameter 'xs' is \[4\] of \[1, 2\]"):
        found.inputs(np.zeros((4, 2)))


FOLDS: list[tuple[Callable[..., Any], Any]] = [
    (lambda xs, w: xs.enumerate().foldl(lambda s, i, x: s + i * x, 0), (5, 3)),
    (lambda xs, w: xs.foldl(lambda s, x: np.maximum(s, x * x)), (4, 3)),
    (lambda xs, w: xs.foldl(lambda s, x: s + (x + 1), 0), (4, 3)),
    (lambda xs, w: xs.foldl(lambda s, x: s + w, np.zeros(3)), (4, 3)),
    (lambda xs, w: xs.foldl(lambda s, x: s + np.ones(3), np.zeros(3)), (4, 3)),
    (lambda xs, w: xs.scanl(lambda a, x: a - xs.foldl(lambda s, y: s + w, 0) + x, 0), (3, 3)),
]
"""Of what is computed for the fold alone, or is the same in all of its steps."""


@pytest.mark.parametrize("number", range(len(FOLDS)))
def test_folds(number: int) -> None:
    function, shape = FOLDS[number]
    run(function, listed(1, *shape), RNG.standard_normal(3))


CONSTANTS: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda xs: xs.map(lambda x: np.ones(2)), (3, 2)),
    (lambda xs: xs.scanl(lambda s, x: s @ x + 1, np.ones((2, 2))), (1, 2, 2)),
    (lambda xs: xs.scanl(lambda s, x: s @ np.full((2, 2), 2) + x, np.ones((2, 2))), (1, 2, 2)),
    (lambda xs: xs.scanl(lambda s, x: x * s.sum(axis=0, keepdims=True), np.ones((2, 3))), (1, 2, 3)),
]
"""One number for all elements of a state, or of a result."""


@pytest.mark.parametrize("number", range(len(CONSTANTS)))
def test_constants(number: int) -> None:
    function, shape = CONSTANTS[number]
    run(function, listed(1, *shape))


def test_scans_of_different_lengths() -> None:
    def function(xs: Any, ys: Any) -> Any:
        first = xs.scanl(lambda s, x: np.maximum(s, x) - 1, 0)
        return first, ys.scanl(lambda s, y: np.minimum(s, y) + first[0], first[-1])

    found = run(function, listed(1, 3, 2), listed(1, 5, 2))
    assert [line for line in statements(found) if "scan" in line] == ["scan step {", "scan step5 {"]


def test_numbers_alone_are_worked_out() -> None:
    """Functions of programs take none."""
    found = run(lambda xs: xs.scanl(lambda s, x: x + np.maximum(s, np.exp(s)), 0), listed(1, 1, 2))
    assert "t_3[i, x0] = xs[i, x0] + 1" in statements(found)
