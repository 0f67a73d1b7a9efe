"""Every built-in program by every command, as a user types it: on the default data, with no option but where
a file has to be named."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from samhw.cli import main
from samhw.frontend import kernel_names, model_names

PROGRAMS = (*kernel_names(), *model_names())
SLOW = {"gpt3_block", "bigbird_attention"}
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PROGRAMS]


def samhw(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


def value_of(program: str) -> str:
    """Models have weights, which are no whole numbers."""
    return "f32" if program in model_names() else "i32"


@pytest.mark.parametrize("program", EACH)
def test_run(program: str, tmp_path: Path) -> None:
    assert (
        f"  value      {value_of(program)}\n" in samhw("run", program, "--json", tmp_path / "r.json").stdout
    )
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["checked"]
    assert report["value"] == value_of(program)
    assert report["data"] in ("karate", "random")


@pytest.mark.parametrize("program", PROGRAMS)
def test_compile_and_build(program: str, tmp_path: Path) -> None:
    assert "order" in samhw("compile", program).stdout
    samhw("build", program, "--target", "sim", "-o", tmp_path / "out")
    graph = json.loads((tmp_path / "out" / "graph.json").read_text(encoding="utf-8"))
    assert graph["value"] == value_of(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_compare(program: str) -> None:
    report = json.loads(samhw("compare", program, "--json", "-").stdout)
    assert report["value"] == value_of(program)
    assert all(outcome["checked"] for outcome in report["outcomes"] if "refused" not in outcome)
    assert any("checked" in outcome for outcome in report["outcomes"])


@pytest.mark.slow
def test_sweep(tmp_path: Path) -> None:
    samhw("sweep", *PROGRAMS, "-o", tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["program"]: row["status"] for row in rows} == dict.fromkeys(PROGRAMS, "right")
    assert {row["program"]: row["value"] for row in rows} == {name: value_of(name) for name in PROGRAMS}


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("program", ["spmv", "sae", "graphsage"])
def test_hardware(program: str, tmp_path: Path) -> None:
    for backend in ("verilator", "hls"):
        assert json.loads(samhw("run", program, "--backend", backend, "--json", "-").stdout)["checked"]
    found = json.loads(samhw("correlate", program, "--json", "-").stdout)
    assert found["exact"] == found["total"]
    assert {row["value"] for row in found["kernels"]} == {value_of(program)}
    for target in ("verilator", "vitis-hls"):
        samhw("build", program, "--target", target, "-o", tmp_path / target)
        assert any((tmp_path / target).rglob("*vals*"))
