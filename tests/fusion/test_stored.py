"""How tensors lie in memory."""

import pytest

from samhw.fusion import greatest_sizes, stored_format
from samhw.tensors import Format


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
    assert greatest_sizes(Format.parse(text, 3), (4, 5, 3), 10) == sizes


def test_a_scalar_has_no_levels() -> None:
    assert greatest_sizes(Format.parse("dense", 0), (), 10) == []


def test_coordinate_lists_are_loaded_as_compressed_levels() -> None:
    assert str(stored_format(Format.parse("coo", 2))) == "dcsr"
    assert stored_format(Format.parse("csc", 2)) == Format.parse("csc", 2)
