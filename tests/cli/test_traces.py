"""`samhw run --trace`: what it writes, of one region and of several."""

import json
from pathlib import Path

import pytest

from tests.support.command import good, refused, samhw


def test_a_trace_of_a_window(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    result = samhw("run", "spmv", "--data", "karate", "--trace", path, "--window", "10:20", "--stats")
    assert result.exit_code == 0, result.output
    assert "bottleneck" in result.output
    events = json.loads(path.read_text())["traceEvents"]
    assert {e["ts"] for e in events if e["ph"] == "X"} == set(range(10, 20))


def test_a_trace_of_a_model_has_all_regions(tmp_path: Path) -> None:
    """The design is the one that runs without a trace, and each region starts behind the one before it."""
    model = ("run", "mlp", "--value", "f32", "--data", "random", "--json", "-")
    path = tmp_path / "run.json"
    report = json.loads(good(*model, "--trace", path).stdout)
    assert report["cycles"] == json.loads(good(*model).stdout)["cycles"]
    assert len(report["regions"]) > 1
    events = json.loads(path.read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    start = 0
    for region in report["regions"]:
        (span,) = (e for e in events if e["name"] == region["name"])
        assert (span["ts"], span["dur"]) == (start, region["cycles"] + 1)
        start += span["dur"]
        pops = [
            e["ts"] for e in events if e["ph"] == "X" and processes[e["pid"]].startswith(f"{region['name']}.")
        ]
        assert span["ts"] < min(pops)
        assert max(pops) == span["ts"] + region["cycles"]
    assert start == report["cycles"] + 1


def test_a_window_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "run.vcd"
    model = ("run", "mlp", "--value", "f32", "--data", "random")
    regions = json.loads(good(*model, "--json", "-").stdout)["regions"]
    second = regions[0]["cycles"] + 1
    good(*model, "--trace", path, "--window", f"{second}:{second + 20}")
    scopes = {line.split()[2] for line in path.read_text().splitlines() if line.startswith("$scope")}
    assert scopes & {region["name"] for region in regions} == {regions[1]["name"]}


def test_a_trace_as_fst(tmp_path: Path) -> None:
    pytest.importorskip("pylibfst")
    path = tmp_path / "run.fst"
    result = samhw("run", "spmv", "--data", "karate", "--trace", path)
    assert result.exit_code == 0, result.output
    assert path.stat().st_size > 1000


def test_a_trace_that_cannot_be(tmp_path: Path) -> None:
    assert "add '--trace run.json'" in refused("run", "spmv", "--window", "1:2")
    assert "suffix .json, .vcd or .fst" in refused("run", "spmv", "--trace", tmp_path / "run.txt")
    assert "give two cycles" in refused("run", "spmv", "--trace", tmp_path / "run.vcd", "--window", "3")
    assert not list(tmp_path.iterdir())
