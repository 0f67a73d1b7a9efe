"""Programs of any file name, and of any names in them, by every command that writes files."""

from pathlib import Path

import pytest

from tests.support.built import run_program
from tests.support.command import good
from tests.support.hostile import WORDS

STEMS = (
    *("my-program", "9x", "class", "exp", "a.b", "with blanks", "ünïcødé", "λ", "$(id)", "'\"", "a*b"),
    *("[red]x", "back\\", "??-", "samhw_top", "-", "%s", "x" * 240),
)

TEXT = """
tensor {0}[{0}, {1}] : csr
tensor {1}[{1}] : dense
y[{0}] = {0}[{0}, {1}] * {1}[{1}]
"""
SECOND = "z[{0}] = y[{0}] + 1\n"


def written(folder: Path, number: int) -> Path:
    """A program with a name of its own, of one region or of two."""
    words = [WORDS[(2 * number + n) % len(WORDS)] for n in range(2)]
    path = folder / f"{STEMS[number]}.ein"
    path.write_text((TEXT + SECOND * (number % 2)).format(*words), encoding="utf-8")
    return path


@pytest.mark.parametrize("number", range(len(STEMS)))
def test_every_command_but_the_builds_of_rtl(tmp_path: Path, number: int) -> None:
    program = written(tmp_path, number)
    assert "right" in good("run", program, "--stats", "--trace", tmp_path / "t.vcd").output
    scopes = [line for line in (tmp_path / "t.vcd").read_text().splitlines() if line.startswith("$scope")]
    assert all(len(line.split()) == 4 for line in scopes)
    page, drawing, graph = (tmp_path / name for name in ("t.html", "g.dot", "g.json"))
    shown = ("--table", "--channels", "--html", page, "--dot", drawing, "-o", graph)
    good("compile", program, "--data", "random", *shown)
    assert "right" in good("compare", program).output
    for target, regions in (("sim", ()), ("vitis-hls", ("--regions", "top")), ("vitis-hls", ())):
        folder = tmp_path / f"{target}{len(regions)}"
        good("build", program, "--data", "random", "--target", target, *regions, "-o", folder)
        assert all(path.relative_to(folder).parts[0].isascii() for path in folder.rglob("*"))


@pytest.mark.slow
@pytest.mark.verilator
def test_a_build_of_long_names_runs(tmp_path: Path) -> None:
    program = tmp_path / "a*b c.ein"
    program.write_text(TEXT.format("x" * 200, "X" * 200))
    good("build", program, "--data", "random", "--target", "verilator", "-o", tmp_path / "out")
    run_program(tmp_path / "out")
    assert list((tmp_path / "out" / "results").iterdir())
