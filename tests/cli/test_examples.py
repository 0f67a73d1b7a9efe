"""`samhw examples`, and what a wheel has beside the package."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.installed import installed

ROOT = Path(__file__).parents[2]


def test_each_example_has_a_line() -> None:
    result = CliRunner().invoke(main, ["examples"], catch_exceptions=False)
    assert result.exit_code == 0
    said = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert said["spmm.ein"] == (
        "Sparse times dense matrix product: the karate club's adjacency with node features"
    )
    assert set(said) == {
        str(name) for name in installed("examples") if name.suffix in (".ein", ".mlir", ".py", ".toml")
    }


def test_they_are_written_with_the_documents(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert CliRunner().invoke(main, ["examples", str(out)], catch_exceptions=False).exit_code == 0
    for folder in ("examples", "docs", "boards"):
        for name, path in installed(folder).items():
            assert (out / folder / name).read_bytes() == path.read_bytes()
    ran = CliRunner().invoke(main, ["run", str(out / "examples" / "spmm.ein")], catch_exceptions=False)
    assert ran.exit_code == 0
    again = CliRunner().invoke(main, ["examples", str(out)], catch_exceptions=False)
    assert again.exit_code == 2
    assert "is there and not empty" in again.stderr


@pytest.mark.slow
def test_a_wheel_has_all_examples_and_documents(tmp_path: Path) -> None:
    """Each file is placed as it lies in the repository, but for scripts that draw the documents' pictures,
    and for a link to the built-in models."""
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    if not known:
        pytest.skip("not a checkout")
    for name in (name for name in known if not name.startswith("tests/")):
        copy = tmp_path / "tree" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy, follow_symlinks=False)
    make = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(tmp_path)]
    subprocess.run([*make, str(tmp_path / "tree")], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    placed = {name.partition("/data/share/samhw/")[2] for name in zipfile.ZipFile(wheel).namelist()}
    wanted = {name for name in known if name.startswith(("boards/", "docs/", "examples/"))}
    wanted -= {name for name in wanted if name.startswith("docs/") and name.endswith(".py")}
    assert placed - {""} == wanted - {"examples/models"}
