"""How tensors lie in memory."""

import pytest

from samhw.tensors.formats import Format


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("dense", [4, 20, 60]),
        ("(dense, compressed, compressed)", [4, 10, 10]),
        ("(compressed, dense, compressed)", [4, 20, 10]),
        ("csf @ (2, 1, 0)", [3, 10, 10]),
        ("(compressed, compressed, dense)", [4, 10, 30]),
    ],
)
def test_the_greatest_sizes_of_levels(text: str, sizes: list[int]) -> None:
    assert Format.parse(text, 3).greatest_sizes((4, 5, 3), 10) == sizes


def test_a_scalar_has_no_levels() -> None:
    assert Format.parse("dense", 0).greatest_sizes((), 10) == []


def test_coordinate_lists_are_loaded_as_compressed_levels() -> None:
    assert str(Format.parse("coo", 2).loaded) == "dcsr"
    assert Format.parse("csc", 2).loaded == Format.parse("csc", 2)
