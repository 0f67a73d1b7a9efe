"""Copies of cells and stacks of blocks: rounds, and results that are the same to the bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samhw
from samhw.compiler.passes import Lowerable
from samhw.compiler.search.region_search import Candidate, RegionSearch
from samhw.errors import RunError
from samhw.lang import nested
from samhw.lang.decision import Refusal
from samhw.lang.nested import ListType
from tests.nested.examples import example

RNG = np.random.default_rng(5)


def side_by_side(name: str, *types: ListType) -> tuple[nested.NestedFunction, nested.Stack]:
    """The copies of an example, with one stack."""
    found = nested.side_by_side(nested.trace(example(name)[name], *types))
    (stack,) = [item for item in nested.stacks(found, found.body) if isinstance(item, nested.Stack)]
    return found, stack


def lstm_types(steps: int, layers: int, batch: int | None = None) -> list[ListType]:
    weights = ListType((layers, 4), (2, 2))
    xs = ListType((steps,) if batch is None else (batch, steps), (2,))
    return [xs, weights, weights, ListType((layers, 4), (2,))]


def random_lists(types: list[ListType]) -> list[Any]:
    return [nested.nested_tensor(RNG.normal(size=(*t.extents, *t.shape)), len(t.extents)) for t in types]


@pytest.mark.parametrize(
    ("name", "types", "copies", "rounds"),
    [
        ("stacked_lstm", lstm_types(64, 32, 1), 32, 95),
        ("stacked_lstm", lstm_types(8, 3, 2), 3, 10),
        ("dilated_rnn", lstm_types(50, 6), 6, 55),
        ("grid_rnn", example("grid_rnn")["types"](32, 10, 10, 2), 100, 50),
        ("grid_rnn", example("grid_rnn")["types"](2, 3, 3, 2), 6, 6),
    ],
)
def test_copies_are_as_many_as_the_widest_diagonal(
    name: str, types: list[ListType], copies: int, rounds: int
) -> None:
    _, stack = side_by_side(name, *types)
    assert (len(stack.blocks), stack.rounds) == (copies, rounds)
    assert stack.width <= copies
    assert f"in {rounds} rounds, at most {stack.width} at once" in str(stack)


@settings(max_examples=10, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)),
    name=st.sampled_from(["stacked_lstm", "dilated_rnn", "grid_rnn"]),
)
def test_copies_give_the_same_bits_in_rounds(sizes: tuple[int, int, int], name: str) -> None:
    """And each element is there when a round reads it."""
    one, two, three = sizes
    function = example(name)[name]
    types = {
        "stacked_lstm": lstm_types(one, two, three),
        "dilated_rnn": lstm_types(one, two),
        "grid_rnn": example("grid_rnn")["types"](three, one, two, 2),
    }[name]
    lists = random_lists(types)
    found = nested.side_by_side(nested.trace(function, *lists))
    apart = nested.items_apart(found)
    for copies in (found, apart):
        orders = [item for item in nested.stacks(copies, copies.body) if isinstance(item, nested.Stack)]
        runs = nested.evaluate(copies, *lists), nested.evaluate(copies, *lists, schedules=orders)
        plain = function(*lists)
        for run in runs:
            pairs = zip(plain, run, strict=True) if isinstance(plain, tuple) else [(plain, run)]
            assert all(np.array_equal(a.array, b.array) for a, b in pairs)


def test_a_stack_that_begins_too_early_is_found() -> None:
    types = lstm_types(5, 3)
    found, stack = side_by_side("dilated_rnn", *types)
    early = nested.Stack(stack.wavefronts, (1, 0, 2))
    with pytest.raises(RunError, match="before it is computed"):
        nested.evaluate(found, *random_lists(types), schedules=[early])


def test_what_is_read_by_number_is_apart() -> None:
    found, _ = side_by_side("stacked_lstm", *lstm_types(4, 1, 2))
    assert "map l < 4" in str(found)
    assert "map l < 4" not in str(nested.items_apart(found))


def test_cells_side_by_side_are_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their products stand at two places, once at each, which takes hardware and no cycles: no end of the
    region is tried."""
    best = RegionSearch.best
    sizes: list[int] = []

    def noted(search: RegionSearch, lowerable: Lowerable, number: int) -> Candidate | Refusal:
        sizes.append(len(lowerable.program.regions[number].statements))
        return best(search, lowerable, number)

    monkeypatch.setattr(RegionSearch, "best", noted)
    types = lstm_types(3, 2, 1)
    found = nested.lowered(nested.trace(example("stacked_lstm")["stacked_lstm"], *types), copies=True)
    arrays = [np.ones((*kind.extents, *kind.shape)) for kind in types]
    samhw.compile(found.program, value="f32", fuse="full").run(found.inputs(*arrays))
    assert [size for size in sizes if size > 3] == [20]
