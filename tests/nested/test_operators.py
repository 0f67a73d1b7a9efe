"""What operators mean, by hand; and random functions, evaluated at once, traced, and after every pass."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.lang import nested
from samhw.lang.nested import NestedTensor

XS = nested.nested_tensor(np.arange(5))


def both(function: Callable[..., Any], *lists: NestedTensor) -> list[Any]:
    """What a function gives at once and traced, as lists of Python."""
    found = [function(*lists), nested.evaluate(nested.trace(function, *lists), *lists)]
    one, other = ([_plain(part) for part in (r if isinstance(r, tuple) else (r,))] for r in found)
    assert one == other
    return one


def _plain(value: Any) -> Any:
    return getattr(value, "array", np.asarray(value)).tolist()


HAND: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda xs: xs.map(lambda x: x * 10), [[0, 10, 20, 30, 40]]),
    (lambda xs: xs.foldl(lambda s, x: s * 2 - x, 1), [6]),
    (lambda xs: xs.foldr(lambda s, x: s * 2 - x, 1), [-66]),
    (lambda xs: xs.reduce(lambda s, x: s + x), [10]),
    (lambda xs: xs.scan(lambda s, x: s + x), [[0, 1, 3, 6, 10]]),
    (lambda xs: xs.scanl(lambda s, x: s * 2 + x, 1), [[2, 5, 12, 27, 58]]),
    (lambda xs: xs.scanr(lambda s, x: s * 2 + x), [[98, 49, 24, 11, 4]]),
    (lambda xs: xs[1:-1], [[1, 2, 3]]),
    (lambda xs: xs[::2], [[0, 2, 4]]),
    (lambda xs: xs[3:0:-2], [[3, 1]]),
    (lambda xs: xs.reversed(), [[4, 3, 2, 1, 0]]),
    (lambda xs: xs[-2], [3]),
    (lambda xs: xs.slide(2, 2), [[[0, 1], [2, 3]]]),
    (lambda xs: xs.slide(2, 3, 2, padding=1, value=9), [[[9, 1], [2, 4]]]),
    (lambda xs: xs.slide(3, 2, padding=1, border="wrap"), [[[4, 0, 1], [1, 2, 3], [3, 4, 0]]]),
    # The window of place 0 has places -1 and -2, which are the last and the one before.
    (lambda xs: xs[:3].shifted_slide(5), [[[1, 2, 0, 1, 2], [2, 0, 1, 2, 0], [0, 1, 2, 0, 1]]]),
    (lambda xs: xs.shifted_slide(3, 2)[:2], [[[3, 0, 2], [4, 1, 3]]]),
    (lambda xs: nested.join(xs[:2], xs[::-1]), [[0, 1, 4, 3, 2, 1, 0]]),
    (lambda xs: tuple(nested.product(xs[:3], xs[3:])), [[[0, 1, 2], [0, 1, 2]], [[3, 3, 3], [4, 4, 4]]]),
    (lambda xs: xs[2:].enumerate().map(lambda i, x: i * x), [[0, 3, 8]]),
    (lambda xs: xs[2:].enumerate().map(lambda i, x: xs[i] - x), [[-2, -2, -2]]),
    (
        lambda xs: nested.zip(xs, xs[::-1]).map(lambda x, y: (x - y, x * y)),
        [[-4, -2, 0, 2, 4], [0, 3, 4, 3, 0]],
    ),
    (lambda xs: xs.dilated_map(lambda ys: ys.scanl(lambda s, x: s + x, 0), 2), [[0, 1, 2, 4, 6]]),
    (lambda xs: xs.dilated_map(lambda ys: ys.scanr(lambda s, x: s + x), 3), [[3, 5, 2, 3, 4]]),
    # A dilation beyond the length: each item is a sequence of its own.
    (lambda xs: xs.dilated_map(lambda ys: ys.scanl(lambda s, x: s + x, 1), 9), [[1, 2, 3, 4, 5]]),
    (
        lambda xs: xs.dilated_map(
            lambda ys: ys.dilated_map(lambda zs: zs.scanl(lambda s, x: s + x, 0), 2), 2
        ),
        [[0, 1, 2, 3, 4]],
    ),
]


@pytest.mark.parametrize("number", range(len(HAND)))
def test_by_hand(number: int) -> None:
    function, expected = HAND[number]
    assert both(function, XS) == expected


def test_windows_of_the_formula() -> None:
    """32 items, a window of 7 with stride 2 and dilation 2, and 6 places of padding: 16 windows."""
    xs = nested.nested_tensor(np.arange(32))
    assert xs.slide(7, 2, 2, padding=6).type.extents == (16, 7)


def test_items_that_a_list_names() -> None:
    ids = nested.nested_tensor(np.array([3, 0, 3]))
    assert both(lambda xs, i: xs[i].scanl(lambda s, x: s + x), XS, ids) == [[3, 3, 6]]
    assert both(lambda xs: xs[ids], XS) == [[3, 0, 3]]
    assert both(lambda xs, i: i.map(lambda place: xs[place] * 2), XS, ids) == [[6, 0, 6]]


def test_a_number_stands_for_a_state_of_any_shape() -> None:
    xs = nested.nested_tensor(np.arange(6).reshape(3, 2))
    assert both(lambda xs: xs.scanl(lambda s, x: s * 2 + x, 1), xs) == [[[2, 3], [6, 9], [16, 23]]]


def test_elements_take_numpy() -> None:
    xs = nested.nested_tensor(np.arange(12.0).reshape(2, 2, 3))

    def function(xs: Any) -> Any:
        return xs.map(lambda x: np.exp(-x) + nested.sigmoid(x) / (1 + np.sqrt(np.absolute(x)))), xs.map(
            lambda x: (x @ x.T).max(axis=-1, keepdims=True) - x.sum() + np.min(x, axis=0).sum()
        )

    assert len(both(function, xs)) == 2


# Random functions


ITEM = {"sum": lambda s, x: s + x, "mixed": lambda s, x: s * 3 - x, "less": lambda s, x: np.minimum(s, x - 1)}


@st.composite
def steps(draw: st.DrawFn) -> Callable[[NestedTensor], NestedTensor]:
    """A function from a list of numbers to another one, which may refuse lists that are too short."""
    kind = draw(
        st.sampled_from(
            ["map", "fold windows", "scan", "slice", "join", "product", "dilated", "pick", "nested"]
        )
    )
    f = ITEM[draw(st.sampled_from(sorted(ITEM)))]
    number = draw(st.integers(1, 4))
    start = draw(st.sampled_from([None, 0, 2]))
    operator = draw(st.sampled_from(["scan", "scanl", "scanr"]))
    fold = draw(st.sampled_from(["reduce", "foldl", "foldr"]))
    step = draw(st.sampled_from([-2, -1, 1, 2]))
    border = draw(st.sampled_from(["pad", "wrap"]))
    window = (
        draw(st.integers(1, 3)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 2)),
        draw(st.integers(0, 3)),
    )

    def scanned(ys: Any) -> Any:
        return getattr(ys, operator)(f, start)

    def function(xs: NestedTensor) -> NestedTensor:
        match kind:
            case "map":
                return xs.map(lambda x: x * number - 1)
            case "fold windows":
                width, stride, dilation, padding = window
                windows = xs.slide(width, stride, dilation, padding, value=5, border=border)
                return windows.map(lambda w: getattr(w, fold)(f, start))
            case "scan":
                return scanned(xs)
            case "slice":
                return xs[::step]
            case "join":
                return nested.join(xs[:number], xs)
            case "product":
                one, other = nested.product(xs[:number], xs)
                return nested.zip(one, other).map(lambda a, b: nested.zip(a, b).map(f).foldl(f))
            case "dilated":
                return xs.dilated_map(scanned, number)
            case "pick":
                return xs.enumerate().map(lambda i, x: xs[i] + x)[::-1]
        rows = xs.slide(min(number, len(xs)))
        return rows.scanl(lambda s, w: nested.zip(s, w).scanl(lambda t, a, b: t + a - b, 1), rows[0])[-1]

    return function


def _composed(functions: list[Callable[[NestedTensor], NestedTensor]]) -> Callable[[NestedTensor], Any]:
    def function(xs: NestedTensor) -> Any:
        for step in functions:
            xs = step(xs)
        return xs

    return function


@settings(max_examples=60, deadline=None)
@given(st.lists(steps(), min_size=1, max_size=4), st.integers(1, 7), st.integers(0, 2**31))
def test_random_functions_in_every_form(functions: Any, length: int, seed: int) -> None:
    """Integers wrap alike in all of them, so that results are compared to the bit."""
    xs = nested.nested_tensor(np.random.default_rng(seed).integers(-9, 9, length))
    function = _composed(functions)
    try:
        expected = function(xs).array
    except InputError:
        return
    traced = nested.trace(function, xs)
    nests = nested.perfect_nests(nested.fuse_access_maps(traced))
    merged = nested.coarsened(traced)
    for form in (
        traced,
        nested.fuse_access_maps(traced),
        nests,
        nested.merge_horizontally(nests),
        nested.merge_vertically(nests),
        nested.merge_vertically(nests, sequential=True),
        nested.perfect_nests(nested.fuse_access_maps(nested.operations_as_loops(traced))),
    ):
        assert np.array_equal(nested.evaluate(form, xs).array, expected)
    for form in (nests, merged.function):
        schedules = nested.wavefronts(form)
        assert np.array_equal(nested.evaluate(form, xs, schedules=schedules).array, expected)
