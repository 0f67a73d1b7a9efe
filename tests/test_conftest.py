"""The tests themselves say how far they are, and run under other latencies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")


@pytest.mark.slow
@pytest.mark.parametrize("options", [["-n", "0"], ["-n", "2"], ["-q"]], ids=" ".join)
def test_lines_between_the_dots(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text().replace("EVERY = 30.0", "EVERY = 0.0"))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('n', [0, 1, 2])\ndef test_it(n):\n    assert n\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "1 failed, 2 passed" in output
    assert (" 3 of 3 tests, 1 failed, " in output) == (options != ["-q"]), output


PROBE = """
import pytest
from samhw.graph import Arch


def test_step():
    assert Arch().step == 2
    assert Arch(step=1).memory == 3


@pytest.mark.default_arch
def test_default():
    raise AssertionError
"""


@pytest.mark.slow
def test_other_latencies(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = default_arch\n")
    (tmp_path / "test_it.py").write_text(PROBE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--arch", "ecp5-100"]
    env = os.environ | {"PYTHONPATH": str(CONFTEST.parents[1])}
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env).stdout
    assert "arch: ecp5-100" in output
    assert "1 passed, 1 skipped" in output
