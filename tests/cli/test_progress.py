"""What commands show of long work, on a terminal and not elsewhere."""

import re

import pytest
from click.testing import CliRunner

from samhw.cli import main
from samhw.cli.progress import follow
from samhw.sim import Progress

TERMINAL = {"FORCE_COLOR": "1", "COLUMNS": "150"}


def shown(arguments: str, **environment: str) -> str:
    """What a command writes to stderr, without control codes."""
    result = CliRunner().invoke(main, arguments.split(), env=environment)
    assert result.exit_code == 0, result.output
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.stderr)


def test_a_run() -> None:
    command = "run gat --data karate --fuse full --value f32"
    text = shown(command, **TERMINAL)
    assert re.search(
        r"simulator .* \d\d% .*about \d:\d\d:\d\d left +gat: 1\d\d,\d\d\d firings, cycle \d,\d\d\d", text
    )
    assert shown(command) == ""


def test_a_comparison() -> None:
    text = shown("compare gcn --fuse partial,full", **TERMINAL)
    assert "full, factored (2 of 2)" in text


def test_a_sweep(tmp_path) -> None:
    command = f"sweep spmv --depth 2,3 -o {tmp_path}/r.csv"
    assert "2 of 2" in shown(command, **TERMINAL)
    assert "2 from the journal" in shown(command, **TERMINAL)


def test_each_region_has_a_bar_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in TERMINAL.items():
        monkeypatch.setenv(name, value)
    with follow("simulator") as progress:
        assert progress is not None
        progress(Progress(10, 5, 0.1, 0.9, "mlp_0"))
        progress(Progress(20, 9, 0.1, None, "mlp_1"))
    text = capsys.readouterr().err
    assert "mlp_1: 20 firings, cycle 9" in text
    assert "left" not in text.rpartition("mlp_1")[0].rpartition("\r")[2]
