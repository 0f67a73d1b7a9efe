"""What a run is said to take, against what it takes."""

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.checking.model_and_rtl import Correlation
from samhw.app.cli import main
from samhw.app.workload import compile_workload, make_model_workload, make_workload, predict_effort
from samhw.lang import load_kernel, parse
from samhw.targets.backends import run


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("spmv", 400 * 400 * 0.05),
        ("spmm", 400 * 400 * 0.05 * 16),
        ("spmspm_ikj", 400**3 * 0.05**2),
        ("sddmm", 400 * 400 * 0.05 * 400),
        ("mmadd", 2 * 400 * 400 * 0.05),
    ],
)
def test_points(name: str, points: float) -> None:
    workload = make_workload(load_kernel(name), ["random:size=400,density=0.05"])
    if name == "spmm":
        workload = make_workload(load_kernel(name).bind({"X": (400, 16)}), ["random:size=400,density=0.05"])
    assert predict_effort(workload.program, workload.tensors).points == pytest.approx(points, rel=0.01)


def test_points_of_functions() -> None:
    """A sparse result stays sparse under leaky_relu(..., 0.2) and min(..., 0), and not under exp."""
    text = "tensor A[i, j] : csr\ntensor L[i, j] : csr\nL[i, j] = {}(A[i, j]{})\n"
    stored = 400 * 400 * 0.05
    for function, more, points in [
        ("leaky_relu", ", 0.2", stored),
        ("min", ", 0", stored),
        ("max", ", 1", 400 * 400),
        ("exp", "", 400 * 400),
    ]:
        workload = make_workload(parse(text.format(function, more)), ["random:size=400,density=0.05"])
        assert predict_effort(workload.program, workload.tensors).points == pytest.approx(points, rel=0.01)


@pytest.mark.parametrize("name", ["gcn", "gat", "bigbird_attention", "mlp"])
def test_cycles_are_of_the_same_order(name: str) -> None:
    workload = make_model_workload(name)
    cycles = run(compile_workload(workload), workload.tensors).cycles
    assert 1 / 8 < predict_effort(workload.program, workload.tensors).points / cycles < 8


def told(*words: str) -> str:
    result = CliRunner().invoke(main, ["run", "spmv", "--data", "random:size=40", *words])
    assert result.exit_code == 0
    return result.stderr


def test_a_word_before_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told() == ""
    monkeypatch.setattr("samhw.app.workload.effort._POINTS", 1)
    assert told() == (
        "samhw: about 320 points to compute, which takes about 5 minutes; with smaller data it is quicker\n"
    )
    monkeypatch.setattr("samhw.app.cli.progress.memory_limit", lambda: 4096)
    assert re.match(
        r"samhw: this will need about 0\.\d MB of memory, but there are 0\.0 MB; if it fails", told()
    )


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("words", "points", "minutes"),
    [
        # 320 points each: of two schedules; at a point a second, and half a one of the RTL; of three depths.
        ("compare spmv --data random:size=40 --fuse none,partial", 640, 11),
        ("correlate spmv spmv --data random:size=40 --jobs 2", 640, 16),
        ("correlate spmv spmv --data random:size=40 --jobs 1", 640, 32),
        ("sweep spmv --data random:size=40 --depth 4,5,6 --jobs 1 -o t.csv", 960, 16),
        ("sweep spmv --data random:size=40 --depth 4,5,6 --jobs 2 -o t.csv", 960, 8),
        ("build spmv --data random:size=40 --check --target sim -o out", 320, 5),
    ],
)
def test_every_command_that_simulates_says_it(
    words: str, points: int, minutes: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("samhw.app.cli.correlate.run_all", lambda *_, **__: Correlation(()))
    runner = CliRunner()
    assert "points to compute" not in runner.invoke(main, words.replace("t.csv", "u.csv").split()).stderr
    shutil.rmtree("out", ignore_errors=True)
    monkeypatch.setattr("samhw.app.workload.effort._POINTS", 1)
    monkeypatch.setattr("samhw.app.workload.effort._RTL_POINTS", 0.5)
    result = runner.invoke(main, words.split(), catch_exceptions=False)
    assert result.exit_code == 0
    assert f"about {points} points to compute, which takes about {minutes} minutes" in result.stderr
    if words.startswith("sweep"):  # Nothing is left to do.
        assert runner.invoke(main, words.split()).stderr == ""


def test_a_sweep_says_it_of_what_can_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("samhw.app.workload.effort._POINTS", 1)
    words = "sweep spmv --data random:size=40 --data random:size=0 --jobs 1 -o"
    result = CliRunner().invoke(main, [*words.split(), str(tmp_path / "t.csv")], catch_exceptions=False)
    assert "640 points" in result.stderr


def test_phases_are_shown_on_a_terminal() -> None:
    environment = {"FORCE_COLOR": "1", "COLUMNS": "150"}
    result = CliRunner().invoke(main, ["run", "spmv", "--data", "random:size=40"], env=environment)
    assert all(name in result.stderr for name in ("reading data", "compiling", "checking"))
