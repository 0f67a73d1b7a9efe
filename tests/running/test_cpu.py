"""The same program on this machine's processor: right, by the ways that are meant, and told with figures that
were measured."""

import json
from pathlib import Path

import numpy as np
import pytest

from samhw.app.checking.cpu import CpuRun, cpu_run
from samhw.app.report.run_report import BesideCpu
from samhw.app.workload import bind_program
from samhw.cost.devices import GREATEST_CLOCK, MEASURED_ARCH, REACHED
from tests.support.command import good, report

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def ways(program: str, data: str = "auto") -> set[str]:
    return set(cpu_run(bind_program(program, [data])).ways.values())


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("spmm", {"SciPy"}),
        ("spmv", {"SciPy"}),
        ("sddmm", {"SciPy"}),
        ("mlp", {"NumPy"}),
        ("gcn", {"SciPy", "NumPy"}),
        ("bigbird_attention", {"NumPy"}),
        ("C[i, j] = cumsum(j, A[i, j])", {"reference"}),
    ],
)
def test_each_statement_goes_the_fastest_way(program: str, expected: set[str]) -> None:
    assert ways(program) == expected


def test_a_wrong_way_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A way that gives another result would be quick, and of no use."""
    monkeypatch.setattr("samhw.app.checking.cpu._product", lambda *arguments: np.zeros((34, 16)))
    assert ways("spmm", "karate") == {"reference"}


def test_a_run_says_its_ratio_and_the_lanes_that_it_takes() -> None:
    told = report("run", "spmm", "--data", "synthetic:cora", "--compare", "cpu")
    cpu = told["cpu"]
    assert cpu["clock_hz"] == REACHED["i32"] * 1e6
    # The cycles are of the latencies with which designs reach that clock.
    measured = report("run", "spmm", "--data", "synthetic:cora", "--arch", MEASURED_ARCH)["cycles"]
    assert cpu["cycles"] == measured > told["cycles"]
    assert cpu["times_as_fast"] == pytest.approx(cpu["seconds"] / (measured / cpu["clock_hz"]))
    if cpu["times_as_fast"] < 1 and cpu["as_fast"]:
        assert cpu["as_fast"]["cycles"] <= measured * cpu["times_as_fast"]
    slower = BesideCpu(CpuRun(1e-6, {"T": "SciPy"}, "a machine"), 1000, 10.0, "as asked for", None)
    assert slower.ratio == pytest.approx(0.1)
    assert "10.00 times as long" in slower.lines()[1]
    several = CpuRun(1e-6, {"T": "SciPy", "U": "NumPy", "V": "SciPy"}, "a machine")
    assert str(several) == "1.0 µs 2 statements by SciPy, 1 by NumPy on a machine"


def test_clocks_are_those_that_were_measured() -> None:
    rows = json.loads((RESULTS / "synthesis_designs.json").read_text())["rows"]
    for value, clock in REACHED.items():
        assert clock == min(row["mhz"] for row in rows if row["value"] == value)
    assert max(row["mhz"] for row in rows) == GREATEST_CLOCK


def test_a_clock_that_nothing_reaches_is_called_so() -> None:
    said = good("run", "spmv", "--clock", "1GHz").output
    assert f"clock      above {GREATEST_CLOCK} MHz" in said
    assert "of the slowest speed grade; a small design or a faster grade may reach it" in said
    assert report("run", "spmv", "--clock", "1GHz")["beyond_measured_clocks"] is True
    assert "clock " not in good("run", "spmv", "--clock", "100MHz").output


def test_a_build_says_where_it_does_not_fit(tmp_path: Path) -> None:
    large = ("--extents", "i=100000,j=100000", "--capacity", "B=5000000")
    command = ("build", "spmv", *large, "--target", "verilog", "-o", tmp_path / "large")
    assert "does not fit LFE5U-85F (block RAMs" in good(*command).output
    small = ("build", "spmv", "--data", "karate", "--target", "verilog", "-o", tmp_path / "small")
    assert "fits LFE5U-85F" in good(*small).output
