"""Schedules in the words of the command line."""

from typing import Any

import pytest

from samhw.choices.schedule import Schedule, every, with_words
from samhw.errors import InputError

BASE = Schedule(order={"T": ["i", "j"]}, formats={"T": "csr"}, lanes={"i": 2})


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ({}, {}),
        ({"fuse": "full", "iteration": None}, {"fuse": "full"}),
        ({"permute": True}, {"permute": True}),
        ({"lanes": "1"}, {"lanes": {}}),
        ({"lanes": "i=4+j=2"}, {"lanes": {"i": 4, "j": 2}}),
        ({"order": "k, i"}, {"order": ("k", "i")}),
        ({"order": ""}, {"order": {}}),
        ({"order.U": "k,i"}, {"order": {"T": ("i", "j"), "U": ("k", "i")}}),
        ({"formats.U": "dense"}, {"formats": {"T": "csr", "U": "dense"}}),
        ({"share": "none"}, {"share": "none"}),
        ({"share": "T=buffer, U = store"}, {"share": {"T": "buffer", "U": "store"}}),
        ({"share": "T=buffer+U=store"}, {"share": {"T": "buffer", "U": "store"}}),
        ({"place": "A=ddr,X = chip"}, {"place": {"A": "ddr", "X": "chip"}}),
        ({"place": "A=hbm:3+A.vals=chip"}, {"place": {"A": "hbm:3", "A.vals": "chip"}}),
        ({"place": "A=ddr", "place.X": "hbm"}, {"place": {"A": "ddr", "X": "hbm"}}),
        ({"place": ""}, {"place": {}}),
        ({"on_chip": "64KB"}, {"on_chip": "64KB"}),
    ],
)
def test_words_take_the_place_of_fields(words: dict[str, Any], fields: dict[str, Any]) -> None:
    got, before = with_words(BASE, words).to_json(), BASE.to_json()
    assert got == Schedule.from_fields(before | fields).to_json()


@pytest.mark.parametrize("text", ["T=buffer,U", "T=buffer,"])
def test_shares_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="give each intermediate one way, as in T=buffer,U=store"):
        with_words(BASE, {"share": text})


@pytest.mark.parametrize("text", ["A", "A=ddr,X"])
def test_places_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="give each tensor one place, as in A=ddr,X=chip"):
        with_words(BASE, {"place": text})


def test_every_combination_once_with_the_last_name_fastest() -> None:
    assert list(every({"a": [1, 2], "b": "xy"})) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert list(every({})) == [{}]
    assert list(every({"a": [1, 2], "b": []})) == []


@pytest.mark.parametrize(
    ("field", "text", "first", "second"),
    [
        ("share", "T=buffer+T=store", "buffer", "store"),
        ("place", "T=ddr,T=chip", "ddr", "chip"),
        ("formats", "T=csr;T=csc", "csr", "csc"),
        ("formats", "T=csr,T=csc", "csr", "csc"),
        ("lanes", "T=2+T=4", "2", "4"),
        ("order", "T=i,k,j;T=k,i,j", "i,k,j", "k,i,j"),
    ],
)
def test_one_name_has_one_entry(field: str, text: str, first: str, second: str) -> None:
    with pytest.raises(
        InputError, match=f"{field}: 'T' has both {first} and {second}; leave one of them out"
    ):
        with_words(BASE, {field: text})


def test_commas_before_names_stand_between_entries() -> None:
    found = with_words(BASE, {"formats": "A=csr, X=(dense, compressed)", "order": "T=i,k,j,U=i,j"})
    assert found.formats == {"A": "csr", "X": "(dense, compressed)"}
    assert found.order == {"T": ("i", "k", "j"), "U": ("i", "j")}


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("place", "A=ddr,X=chip", {"A": "ddr", "X": "chip"}),
        ("order", "i,k,j", ("i", "k", "j")),
        ("order", {"T": "i, k"}, {"T": ("i", "k")}),
        ("share", "T=buffer", {"T": "buffer"}),
        ("interleave", "X+Y", ("X", "Y")),
        ("split", "A=rows(4)", {"A": "rows(4)"}),
        ("permute_rows", "A=by length", {"A": "by length"}),
        ("cascade", "tile=16", {"tile": 16}),
        ("partial_sums", "none", ()),
        ("parallel", "Q+K", (("Q", "K"),)),
        ("permute", "true", True),
        ("attempts", "3", 3),
    ],
)
def test_a_field_takes_its_word(name: str, word: Any, value: Any) -> None:
    assert getattr(Schedule.from_fields({name: word}), name) == value
