"""Lanes in one word, and in a table."""

import pytest

from samhw.choices.choice import choice, counts_text
from samhw.choices.schedule import Schedule
from samhw.errors import InputError


@pytest.mark.parametrize(
    ("text", "lanes"),
    [("i=4+j=2", {"i": 4, "j": 2}), (" k = 64 ", {"k": 64}), ("i=1", {"i": 1}), ("1", {}), ("", {})],
)
def test_words(text: str, lanes: dict[str, int]) -> None:
    assert choice("lanes").taken(text) == lanes
    assert choice("lanes").taken(counts_text(lanes)) == lanes


@pytest.mark.parametrize("text", ["i", "i=", "=4", "4", "i=4,j=2", "i=x", "i=-1", "i=" + "9" * 5000])
def test_what_is_no_such_word(text: str) -> None:
    with pytest.raises(InputError, match=r"give each index once .* such as i=4\+j=2; or 1 for none"):
        choice("lanes").taken(text)


@pytest.mark.parametrize("count", [0, 1025, 2.0, True, "4"])
def test_numbers(count: object) -> None:
    with pytest.raises(InputError, match=r"'lanes.i' is .*; give a whole number from 1 to 1,024"):
        Schedule(lanes={"i": count})  # type: ignore[dict-item]
