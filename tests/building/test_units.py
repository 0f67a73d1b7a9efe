"""The units that a verilated design is compiled in."""

from pathlib import Path

import pytest

from samhw.targets.building.verilator import _groups


@pytest.mark.parametrize(
    ("sizes", "number", "groups"),
    [
        ([100] * 8, 1, [8]),
        ([100] * 8, 2, [4, 4]),
        ([100] * 8, 3, [3, 3, 2]),
        ([100] * 2, 5, [1, 1]),
        ([500, 10, 10, 500], 2, [2, 2]),
        ([1000, 1, 1], 3, [1, 2]),
        ([], 0, []),
    ],
)
def test_groups_are_of_about_the_same_size(
    tmp_path: Path, sizes: list[int], number: int, groups: list[int]
) -> None:
    parts = []
    for n, size in enumerate(sizes):
        (tmp_path / f"part{n}.cpp").write_text("/" * size)
        parts.append(str(tmp_path / f"part{n}.cpp"))
    found = _groups(parts, number)
    assert [len(group) for group in found] == groups
    assert [part for group in found for part in group] == parts
