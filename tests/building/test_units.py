"""The units that a verilated design is compiled in."""

import os
from pathlib import Path

import pytest

from samhw.building import verilator
from samhw.building.verilator import _units


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Eight files of 100 bytes, on a machine of two processors on which a unit has 150 bytes at the least."""
    monkeypatch.setattr(verilator, "_UNIT_BYTES", 150)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for n in range(8):
        (tmp_path / f"part{n}.cpp").write_text("/" * 100)
    return [str(tmp_path / f"part{n}.cpp") for n in range(8)]


@pytest.mark.parametrize(("most", "sizes"), [(None, [4, 4]), (300, [3, 3, 2]), (1_000, [4, 4])])
def test_a_unit_ends_at_its_limit(
    tmp_path: Path, parts: list[str], most: int | None, sizes: list[int]
) -> None:
    units = _units(tmp_path, "all", parts, "-O0", (), most)
    texts = [unit.source.read_text() for unit in units]
    assert [text.count("#include") for text in texts] == sizes
    assert "".join(texts) == "".join(f'#include "{part}"\n' for part in parts)
