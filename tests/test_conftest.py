"""The tests themselves say how far they are, and run under other latencies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COLLECTED, SMOKE
from tests.rounds import choose

CONFTEST = Path(__file__).with_name("conftest.py")
FINDS_TESTS = os.environ | {"PYTHONPATH": str(CONFTEST.parents[1])}


@pytest.mark.slow
@pytest.mark.parametrize("options", [["-n", "0"], ["-n", "2"], ["-q"]], ids=" ".join)
def test_lines_between_the_dots(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text().replace("EVERY = 30.0", "EVERY = 0.0"))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('n', [0, 1, 2])\ndef test_it(n):\n    assert n\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=FINDS_TESTS).stdout
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
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n default_arch\n nightly\n smoke\n")
    (tmp_path / "test_it.py").write_text(PROBE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--arch", "ecp5-100"]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=FINDS_TESTS).stdout
    assert "arch: ecp5-100" in output
    assert "1 passed, 1 skipped" in output


DEEP = """
import pytest


def test_always():
    pass


@pytest.mark.nightly
def test_deep():
    pass


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("case", range(5))
def test_many(case):
    pass
"""


@pytest.mark.parametrize(
    ("thorough", "words", "told"),
    [("0", [], "3 passed, 4 deselected"), ("0", ["-m", "nightly"], "6 passed"), ("1", [], "7 passed")],
)
def test_depth_is_for_the_nightly(thorough: str, words: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = nightly\n")
    (tmp_path / "test_it.py").write_text(DEEP)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    env = FINDS_TESTS | {"SAMHW_THOROUGH": thorough}
    assert told in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env).stdout


def test_the_round_of_a_minute_has_cases_that_there_are(pytestconfig: pytest.Config) -> None:
    """By their whole names: with a case that is gone, the round does not begin."""
    if pytestconfig.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        pytest.skip("only some files were collected")
    collected = pytestconfig.stash[COLLECTED]
    assert not SMOKE - collected


@pytest.mark.parametrize("file", [choose.SMOKE, choose.SLOW, choose.DEEP], ids=lambda file: file.name)
def test_lists_name_tests_that_there_are(file: Path) -> None:
    root = CONFTEST.parents[1]
    for name in choose.listed(file):
        path, _, test = name.partition("::")
        assert f"def {test.partition('[')[0].rpartition('::')[2]}(" in (root / path).read_text(
            encoding="utf-8"
        )
