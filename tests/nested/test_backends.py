"""Lowered functions as RTL and as C++: the same results and cycles as the model's."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.lang import nested
from tests.nested.examples import example
from tests.support.thorough import sample

RNG = np.random.default_rng(11)


def whole(depth: int, *shape: int) -> nested.NestedTensor:
    return nested.nested_tensor(RNG.integers(-2, 3, shape), depth)


def dilated(xs: Any, w: Any) -> Any:
    """Two layers, the second one with dilation 2; five steps are no multiple of it."""
    below = xs.scanl(lambda s, x: s @ w + x, np.zeros(2))
    return below.dilated_map(lambda ys: ys.scanl(lambda s, y: s * y + 1, np.ones(2)), 2)


CASES: dict[str, tuple[Callable[..., Any], list[Any], bool]] = {
    "stacked": (example("stacked_rnn")["stacked_rnn"], [whole(2, 1, 3, 2), whole(1, 2, 2, 2)], True),
    "dilated": (dilated, [whole(1, 5, 2), RNG.integers(-1, 2, (2, 2))], True),
    "rows": (example("stacked_rnn")["stacked_rnn"], [whole(2, 1, 2, 2), whole(1, 2, 2, 2)], False),
}


BUILDS = sample(list(product(CASES, ["verilator", "hls"])), [("dilated", "verilator"), ("rows", "hls")])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(name, backend, marks=[pytest.mark.verilator] if backend == "verilator" else [])
        for name, backend in BUILDS
    ],
)
def test_a_lowered_function(name: str, backend: str) -> None:
    function, arguments, copies = CASES[name]
    found = nested.lowered(nested.trace(function, *arguments), copies)
    design = samhw.compile(found.program, value="i32", fuse="full")
    inputs = found.inputs(*arguments)
    model, other = design.run(inputs), design.run(inputs, backend=backend)
    assert np.array_equal(found.results(other).array, function(*arguments).array)
    if backend == "verilator":
        assert other.cycles == model.cycles
