"""Items at places that are computed, or that lists of numbers name: in every form as in plain Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.errors import InputError, SamhwError
from samhw.lang import nested
from samhw.lang.nested import ListType
from tests.support.thorough import THOROUGH

RNG = np.random.default_rng(2)
X = RNG.integers(-3, 4, (5, 2))
IDS, ROWS = np.array([2, 0, 1, 2]), np.array([[2, 0, 1, 2], [1, 1, 0, 3]])
ARGUMENTS = [nested.nested_tensor(X), nested.nested_tensor(IDS), nested.nested_tensor(ROWS, 2)]


def scanned(start: Any, items: Any) -> Any:
    """What `scanl` of the cell below gives."""
    found = []
    for item in items:
        start = np.maximum(start, item) - 1
        found.append(start)
    return found


def cell(state: Any, x: Any) -> Any:
    return np.maximum(state, x) - 1


Case = tuple[Callable[[Any, Any, Any], Any], Any]

CASES: list[Case] = [
    (lambda xs, ids, rows: xs[:2].enumerate().map(lambda i, x: xs[2 * i] + x), X[[0, 2]] + X[:2]),
    (lambda xs, ids, rows: xs[1:].enumerate().map(lambda i, x: xs[i + 1] - xs[i]), X[1:] - X[:-1]),
    (lambda xs, ids, rows: xs.enumerate().map(lambda i, x: x + xs[4 - i]), X + X[::-1]),
    (
        lambda xs, ids, rows: (
            xs[:2]
            .enumerate()
            .map(lambda i, x: xs[:3].enumerate().map(lambda j, y: xs[i + j] * y - xs[2 - (2 - j)]))
        ),
        [[X[i + j] * X[j] - X[j] for j in range(3)] for i in range(2)],
    ),
    (lambda xs, ids, rows: xs[ids[ids]], X[IDS[IDS]]),
    (lambda xs, ids, rows: xs[rows], X[ROWS]),
    (lambda xs, ids, rows: rows.map(lambda row: xs[row].reduce(np.add)), X[ROWS].sum(axis=1)),
    (lambda xs, ids, rows: ids.map(lambda i: xs[i + 1] + xs[2 * i]), X[IDS + 1] + X[2 * IDS]),
    (lambda xs, ids, rows: ids.map(lambda i: xs[ids[i]]), X[IDS[IDS]]),
    (lambda xs, ids, rows: xs[ids[1:]], X[IDS[1:]]),
    (lambda xs, ids, rows: xs[ids[::-1]][1:], X[IDS[::-1]][1:]),
    (lambda xs, ids, rows: xs[::2][ids], X[::2][IDS]),
    (lambda xs, ids, rows: xs[ids].slide(2).map(lambda w: w.reduce(np.add)), X[IDS][:-1] + X[IDS][1:]),
    (lambda xs, ids, rows: xs.slide(2)[ids].map(lambda w: w.reduce(np.add)), X[IDS] + X[IDS + 1]),
    (lambda xs, ids, rows: xs[[2, 0]], X[[2, 0]]),
    (lambda xs, ids, rows: xs.map(lambda x: x + 1)[ids.map(lambda i: 4 - i)], X[4 - IDS] + 1),
    (lambda xs, ids, rows: xs.scanl(cell, 0)[ids], np.array(scanned(0, X))[IDS]),
    (lambda xs, ids, rows: xs[ids].scanl(cell, 0), scanned(0, X[IDS])),
    (lambda xs, ids, rows: ids.scanl(lambda s, i: cell(s, xs[i]), np.zeros(2, int)), scanned(0, X[IDS])),
    (
        lambda xs, ids, rows: rows.scanl(lambda ss, r: nested.zip(ss, xs[r]).map(cell), xs[:4]),
        scanned(X[:4], X[ROWS]),
    ),
    (
        lambda xs, ids, rows: rows.map(lambda r: xs[r].scanl(cell, 0)),
        [scanned(0, X[row]) for row in ROWS],
    ),
    (
        lambda xs, ids, rows: xs.enumerate().scanl(lambda s, i, x: cell(s, xs[4 - i]), 0),
        scanned(0, X[::-1]),
    ),
    (
        lambda xs, ids, rows: xs.scanl(lambda s, x: cell(s, x + xs[ids].reduce(np.add)), 0),
        scanned(0, X + X[IDS].sum(axis=0)),
    ),
]


def everything(xs: Any, ids: Any, rows: Any) -> Any:
    return tuple(function(xs, ids, rows) for function, _ in CASES)


def test_evaluated() -> None:
    for function, expected in CASES:
        traced = nested.trace(function, *ARGUMENTS)
        found = nested.coarsened(traced)
        assert np.array_equal(function(*ARGUMENTS).array, expected)
        assert np.array_equal(nested.evaluate(traced, *ARGUMENTS).array, expected)
        assert np.array_equal(nested.evaluate(found.function, *ARGUMENTS).array, expected)


def test_as_a_program() -> None:
    found = nested.lowered(nested.trace(everything, *ARGUMENTS))
    done = samhw.compile(found.program, value="i32", fuse="none").run(found.inputs(*ARGUMENTS))
    for (_, expected), result in zip(CASES, found.results(done), strict=True):
        assert np.array_equal(result.array, expected)


@pytest.mark.skipif(not THOROUGH, reason="one by one with SAMHW_THOROUGH=1")
@pytest.mark.parametrize("number", range(len(CASES)))
def test_one_by_one(number: int) -> None:
    function, expected = CASES[number]
    for copies in (False, True):
        found = nested.lowered(nested.trace(function, *ARGUMENTS), copies)
        for fuse in ("none", None):
            done = samhw.compile(found.program, value="i32", fuse=fuse).run(found.inputs(*ARGUMENTS))
            assert np.array_equal(found.results(done).array, expected)


def test_places_are_those_of_the_arguments() -> None:
    found = nested.lowered(nested.trace(lambda xs, ids: xs[ids[1:]], ListType((5,), (2,)), ListType((3,))))
    design = samhw.compile(found.program, value="i32", fuse="none")
    for ids in ([0, 4, 2], [1, 1, 3]):
        done = design.run(found.inputs(X, np.array(ids)))
        assert np.array_equal(found.results(done).array, X[ids[1:]])
    with pytest.raises(InputError, match=r"ids names the place 0\.5; places are whole numbers"):
        found.inputs(X, np.array([0, 0.5, 1]))
    for wrong in (5, -1):
        with pytest.raises(SamhwError, match=f"{wrong}"):
            design.run(found.inputs(X, np.array([0, 1, wrong])))


BEYOND = "and the list has 5 items; take fewer steps"

REFUSED: list[tuple[Callable[[Any, Any, Any], Any], str]] = [
    (lambda xs, ids, rows: xs.enumerate().map(lambda i, x: xs[i + 1]), rf"i \+ 1 go from 1 to 5, {BEYOND}"),
    (lambda xs, ids, rows: xs.enumerate().map(lambda i, x: xs[i - 1]), rf"i - 1 go from -1 to 3, {BEYOND}"),
    (lambda xs, ids, rows: xs[7], "there is no item 7 in a list of 5"),
    (lambda xs, ids, rows: xs[np.int64(-6)], "there is no item -6 in a list of 5"),
    (lambda xs, ids, rows: xs[1.5], "a list is indexed by a number, a slice, or"),
    (lambda xs, ids, rows: xs[1, 0], "a list is indexed by a number, a slice, or"),
    (lambda xs, ids, rows: xs[[1.5]], "a list is indexed by a number, a slice, or"),
    (lambda xs, ids, rows: xs.map(lambda x: xs[x]), "a list is indexed by a number, a slice, or"),
    (lambda xs, ids, rows: xs[:1.5], r"slice indices must be .*; a part of a list is as in xs\[1:-1\]"),
    (lambda xs, ids, rows: xs[::0], r"slice step cannot be zero; a part of a list is as in"),
    (lambda xs, ids, rows: xs[ids[0]], r"ids names a single item, .*; take a list of one, as in"),
    (
        lambda xs, ids, rows: xs[ids.map(lambda i: i / 2)],
        "t names items, and is computed by more than sums and",
    ),
    (
        lambda xs, ids, rows: xs.scanl(
            lambda s, x: x + xs.map(lambda y: np.maximum(y, s))[ids].reduce(np.add), np.zeros(2)
        ),
        "computed by a scan that picks items of it by a list of numbers",
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_is_refused(number: int) -> None:
    function, message = REFUSED[number]
    with pytest.raises(InputError, match=message):
        nested.lowered(nested.trace(function, *ARGUMENTS))
