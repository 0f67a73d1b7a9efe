"""Every built-in program by every command, as a user types it: on the default data, with no option but where
a file has to be named."""

import csv
import json
from pathlib import Path

import pytest

from samhw.lang import cascade_names, kernel_names, model_names
from tests.support.command import good, report
from tests.support.thorough import sample

PROGRAMS = (*kernel_names(), *cascade_names(), *model_names())
SLOW = {"gpt3_block", "bigbird_attention"}
EACH = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PROGRAMS]


def value_of(program: str) -> str:
    """Models have weights, which are not whole numbers, and cascades divide."""
    return "i32" if program in kernel_names() else "f32"


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("program", EACH)
def test_run(program: str, tmp_path: Path) -> None:
    assert f"  value      {value_of(program)}\n" in good("run", program, "--json", tmp_path / "r.json").stdout
    found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert found["checked"]
    assert found["value"] == value_of(program)
    assert found["data"] in ("karate", "random")


@pytest.mark.parametrize("program", PROGRAMS)
def test_compile_and_build(program: str, tmp_path: Path) -> None:
    assert "order" in good("compile", program).stdout
    good("build", program, "--data", "auto", "--target", "sim", "-o", tmp_path / "out")
    graph = json.loads((tmp_path / "out" / "graph.json").read_text(encoding="utf-8"))
    assert graph["value"] == value_of(program)


@pytest.mark.nightly(but=12)
@pytest.mark.slow
@pytest.mark.parametrize("program", sample(PROGRAMS, [name for name in PROGRAMS if name != "gpt3_block"]))
def test_compare(program: str) -> None:
    found = report("compare", program)
    assert found["value"] == value_of(program)
    assert all(outcome["checked"] for outcome in found["outcomes"] if outcome["status"] != "refused")
    assert any("checked" in outcome for outcome in found["outcomes"])


@pytest.mark.slow
def test_sweep(tmp_path: Path) -> None:
    good("sweep", *PROGRAMS, "-o", tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Random masses of both signs may cancel, and what is divided by their sum has no bound then.
    wanted = {name: "plausible" if name == "inertia" else "right" for name in PROGRAMS}
    assert {row["program"]: row["status"] for row in rows} == wanted
    assert {row["program"]: row["value"] for row in rows} == {name: value_of(name) for name in PROGRAMS}


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("program", sample(["spmv", "sae", "graphsage"], ["spmv"]))
def test_hardware(program: str, tmp_path: Path) -> None:
    for backend in ("verilator", "hls"):
        assert report("run", program, "--backend", backend)["checked"]
    found = report("correlate", program)
    assert found["exact"] == found["total"]
    assert {row["value"] for row in found["kernels"]} == {value_of(program)}
    for target in ("verilator", "vitis-hls"):
        good("build", program, "--data", "auto", "--target", target, "-o", tmp_path / target)
        assert any((tmp_path / target).rglob("*vals*"))
