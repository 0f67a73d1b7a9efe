"""Streams and nested lists are two forms of one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.errors import RunError
from samhw.graph import DONE, VAL, Token, check_stream, stop
from tests.support.nested import Nested, from_stream, to_stream
from tests.support.strategies.streams import coordinates, like, payloads, structures


@pytest.mark.parametrize(
    ("structure", "text"),
    [
        ([[1, 2], [3]], "1 2 S0 3 S1 D"),
        ([[1], []], "1 S0 S1 D"),
        ([[], [1]], "S0 1 S1 D"),
        ([[]], "S1 D"),
        ([], "S1:1 D"),
        ([[None]], "N S1 D"),
    ],
)
def test_the_table_of_the_document(structure: Nested, text: str) -> None:
    assert " ".join(map(str, to_stream(structure, 2))) == text


def test_three_levels() -> None:
    assert " ".join(map(str, to_stream([[], [[]], [[1], []]], 3))) == "S1:1 S1 1 S0 S2 D"
    assert " ".join(map(str, to_stream([[[]], []], 3))) == "S1 S1:2 D"
    assert " ".join(map(str, to_stream([], 3))) == "S2:2 D"


@given(st.data())
def test_round_trip(data: st.DataObject) -> None:
    depth = data.draw(st.integers(0, 4))
    structure = data.draw(structures(depth, payloads(100, empty=True)))
    stream = to_stream(structure, depth)
    check_stream(stream, depth)
    assert from_stream(stream, depth) == structure


@given(coordinates(2, 50))
def test_coordinates_are_in_order(structure: Nested) -> None:
    check_stream(to_stream(structure, 2), 2, ordered=True)


@given(st.data())
def test_like_keeps_the_shape(data: st.DataObject) -> None:
    structure = data.draw(structures(2, payloads(9)))
    other = data.draw(like(structure, 2, st.just("x")))
    assert [len(item) for item in other] == [len(item) for item in structure]
    assert all(leaf == "x" for item in other for leaf in item)


def test_bad_streams_are_refused() -> None:
    with pytest.raises(RunError, match="only DONE may follow"):
        from_stream([stop(0), Token(VAL, 1), Token(DONE)], 1)
    with pytest.raises(RunError, match="without DONE"):
        from_stream([stop(0)], 1)
