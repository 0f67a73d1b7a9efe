"""The RTL under simulators beside Verilator: the netlist under CXXRTL, the Verilog under Icarus Verilog."""

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

import samhw
from samhw.app.checking.check_run import Verdict
from samhw.app.checking.model_and_rtl import Correlation, Row
from samhw.app.cli import main
from samhw.app.report.comparison_page import correlation_results
from samhw.app.report.plots import plot_correlation
from samhw.errors import InputError
from samhw.targets.backends import BACKENDS, find_backend
from samhw.targets.backends.registry import check_options

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

SCAN = """\
index i=3
tensor A[t=5, i=3] : dense
tensor H[t=5, i=3] : dense
scan t {
  H[t, i] = H[t - 1, i] * 0.5 + A[t, i]
}
y[i] = H[t, i]"""
PROGRAMS = {
    "products of rows": (
        "tensor A[i=8, k=8] : csr\ntensor X[k=8, j=4] : dense\nY[i, j] = A[i, k] * X[k, j]",
        "i32",
    ),
    "two regions": (
        "tensor A[i=6, k=6] : csr\ntensor x[k=6] : dense\nt[i] = A[i, k] * x[k]\ny[i] = exp(t[i])",
        "f32",
    ),
    "a scan": (SCAN, "f32"),
}


def needs(name: str) -> pytest.MarkDecorator:
    missing = name == "icarus" and shutil.which("iverilog") is None
    return pytest.mark.skipif(missing, reason="needs Icarus Verilog")


SIMULATORS = [pytest.param(name, marks=needs(name)) for name in ("icarus", "cxxrtl")]


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_words_and_cycles_are_the_simulators(program: str, simulator: str) -> None:
    text, value = PROGRAMS[program]
    rng = np.random.default_rng(5)
    design = samhw.compile(text, value=value)
    data = {
        name: rng.integers(-3, 4, [extent or 1 for extent in decl.shape]).astype(float)
        for name, decl in design.program.tensors.items()
        if decl in design.program.inputs
    }
    model = design.run(data)
    hardware = design.run(data, backend=simulator)
    assert hardware.cycles == model.cycles
    for name, tensor in model.tensors.items():
        np.testing.assert_array_equal(hardware.tensors[name].to_dense(), tensor.to_dense())


@needs("icarus")
def test_a_correlation_has_a_column_for_each() -> None:
    command = ["correlate", "spmv", "--data", "random:size=6", "--backend", "verilator,icarus"]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    assert "Icarus cycles" in shown.output
    assert "1 of 1 cycle counts equal" in shown.output
    told = json.loads(CliRunner().invoke(main, [*command, "--json", "-"]).output)
    (row,) = told["kernels"]
    assert row["others"] == {"icarus": row["model_cycles"]}
    assert row["rtl_cycles"] == row["model_cycles"]


def test_what_is_no_simulator_of_the_rtl_correlates_nothing() -> None:
    done = CliRunner().invoke(main, ["correlate", "spmv", "--backend", "verilator,hls"])
    assert done.exit_code == 2
    assert "'hls' does not simulate the RTL; choose among verilator, icarus, cxxrtl." in done.output


def test_a_correlation_with_other_cycles_is_not_good() -> None:
    row = Row("spmv", "data", 7, 7, Verdict.RIGHT, others={"icarus": 8})
    found = Correlation((row,))
    assert not found.good
    told = found.to_json()
    page = correlation_results(told)
    assert not page.good
    assert page.verdict == "0 of 1 cycle counts equal"
    assert "0 of 1 cycle counts equal" in plot_correlation(told["kernels"], told["r2"]).axes[0].get_title()


def test_icarus_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    design = samhw.compile("tensor x[i=4] : dense\ny[i] = x[i]")
    with pytest.raises(InputError, match="install it with apt-get install iverilog"):
        design.run({"x": [1, 2, 3, 4]}, backend="icarus")


def test_only_verilator_records_waves() -> None:
    """The others run the RTL, too, so that is not what the refusal says."""
    for name in ("icarus", "cxxrtl"):
        with pytest.raises(InputError, match=f"'{name}' does not record; choose the backend 'verilator'"):
            check_options(name, wave="run.fst")


def test_all_have_a_name_and_what_simulate_is() -> None:
    for backend in BACKENDS:
        if backend.simulates_rtl:
            assert find_backend(backend.name) is backend
            assert "simulate" in backend.key_files
