"""What commands show of long work: a line on a terminal, and sentences after some silence elsewhere."""

import logging
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.app.cli.progress import building, follow, line, phase
from samhw.files import cache_directory
from samhw.sim import Progress

TERMINAL = {"FORCE_COLOR": "1", "COLUMNS": "150"}


def shown(arguments: str, **environment: str) -> str:
    """What a command writes to stderr, without control codes."""
    result = CliRunner().invoke(main, arguments.split(), env=environment)
    assert result.exit_code == 0, result.output
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.stderr)


def test_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # The compiled engine would be done at once.
    monkeypatch.setattr("samhw.sim.engines.SMALL", 1 << 40)
    command = "run gat --data karate --fuse full --share none --value f32"
    text = shown(command, **TERMINAL)
    assert re.search(
        r"simulator .* \d\d% .*about \d:\d\d:\d\d left +gat: 1\d\d,\d\d\d firings, cycle \d,\d\d\d", text
    )
    assert shown(command) == ""


def test_a_comparison() -> None:
    text = shown("compare gpt3_block --fuse partial,none", **TERMINAL)
    assert "none, factored (2 of 2)" in text


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


@pytest.mark.parametrize("terminal", [True, False])
def test_a_build(terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TERMINAL.items() if terminal else ():
        monkeypatch.setenv(name, value)
    log = logging.getLogger("samhw.targets.building.verilator")
    with building("preparing"):
        log.info("building the %s", "RTL")
        log.debug("running the RTL")
    log.warning("outside")
    output = capsys.readouterr()
    assert output.out == ""
    assert "outside" not in output.err
    if terminal:
        assert re.search(r"preparing .*building the RTL .*0:00:00.*running the RTL", output.err, re.DOTALL)
        assert output.err.endswith("\x1b[2K")  # The line is gone.
    else:
        assert output.err == "samhw: building the RTL\n"


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("backend", "what"), [("verilator", "RTL with Verilator"), ("hls", "HLS C simulation")]
)
def test_a_run_that_builds(backend: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for common in ("runtime", "harness", "hls-headers"):  # What no design changes is compiled once.
        (cache_directory() / common).mkdir(parents=True, exist_ok=True)
        (tmp_path / common).symlink_to(cache_directory() / common)
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path))
    command = f"run spmv --data karate --backend {backend}"
    assert re.fullmatch(rf"samhw: building the {what}.*, once for each design\n", shown(command))
    assert shown(command) == ""


def test_a_build_says_what_it_does_from_the_beginning(tmp_path: Path) -> None:
    command = f"build spmv --data karate --target sim -o {tmp_path}"
    text = shown(f"{command}/a", FORCE_COLOR="1", COLUMNS="80")
    assert re.search(r"compiling 0:00:0\d.*writing the build 0:00:0\d", text, re.DOTALL)
    assert "writing the build" not in shown(f"{command}/b")


def test_a_long_name_of_a_build_stays_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**TERMINAL, "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    with building("building " + "x" * 100):
        pass
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err).splitlines()
    assert max(map(len, lines)) == 80


def test_elsewhere_silence_ends(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samhw.app.cli.progress.QUIET", 0.05)
    with line("sweep", "{task.completed} of {task.total}") as shown:
        shown.show(3, 12, "2 from the journal")
        time.sleep(0.2)
    said = capsys.readouterr().err
    assert re.match(
        r"samhw: sweep has worked for \d s, 3 of 12 done, about \d s left, 2 from the journal\n", said
    )
    assert 1 <= said.count("\n") <= 3  # Each pause is as long as all before it.
    for work in (follow, phase, building):
        with work("simulator"):
            time.sleep(0.2)
        assert capsys.readouterr().err.startswith("samhw: simulator has worked for 0 s\n")
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_elsewhere_short_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with line("tune", "{task.completed} schedules") as shown:
        shown.show(1, None, "best 3 cycles")
    assert capsys.readouterr().err == ""


def test_elsewhere_long_work_begins_with_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with line("correlate", "{task.completed}", begin="building 2 programs"):
        assert capsys.readouterr().err == "samhw: building 2 programs\n"
