"""Files in MLIR on the command line."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from samhw.app.cli import main

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "mlir").glob("*.mlir"))
GCN = str(Path(__file__).parents[2] / "examples" / "mlir" / "gcn.mlir")


def samhw(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_right(path: Path) -> None:
    result = samhw("run", str(path))
    assert result.exit_code == 0, result.output
    assert "The file leaves out the data of w" in result.output
    assert "right: " in result.output


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_in_rtl(path: Path) -> None:
    result = samhw("run", str(path), "--backend", "verilator")
    assert result.exit_code == 0, result.output
    cycles = dict(re.findall(r"^ *(simulator|RTL) +([\d,]+) cycles", result.output, re.MULTILINE))
    assert cycles["simulator"] == cycles["RTL"]


def test_data_for_an_argument(tmp_path: Path) -> None:
    matrix = tmp_path / "A.mtx"
    matrix.write_text("%%MatrixMarket matrix coordinate real general\n34 34 2\n1 2 1.5\n34 1 2.0\n")
    result = samhw("run", GCN, "--data", f"adj={matrix}")
    assert result.exit_code == 0, result.output
    assert "adj 34x34 (2 stored)" in result.output


def test_compile_and_compare() -> None:
    result = samhw("compile", f"{GCN}:forward")
    assert result.exit_code == 0, result.output
    assert "forward_0" in result.output
    result = samhw("compare", GCN, "--data", "karate")
    assert result.exit_code == 0, result.output
    assert "module = full" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((f"{GCN}:backward",), "defines no function 'backward'"),
        (("nothing.mlir",), "Cannot read nothing.mlir"),
        ((GCN, "--data", "c=c.npy"), "'forward' reads no tensor 'c'; it reads x, adj, w."),
    ],
)
def test_errors_say_what_to_do(arguments: tuple[str, ...], said: str) -> None:
    result = samhw("run", *arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_a_program_is_written_and_runs_again(tmp_path: Path) -> None:
    target = tmp_path / "gcn.mlir"
    written = ("compile", "gcn", "--data", "karate", "--value", "f32", "--mlir")
    result = samhw(*written, str(target))
    assert result.exit_code == 0, result.output
    assert samhw(*written, "-").output.endswith(target.read_text())
    result = samhw("run", str(target), "--data", "karate")
    assert result.exit_code == 0, result.output
    assert "right: " in result.output
    result = samhw(*written, str(target), "--table")
    assert result.exit_code == 2
    assert "--mlir compiles nothing; leave out" in result.output


@pytest.mark.slow
@pytest.mark.verilator
def test_a_graph_network_in_hardware() -> None:
    """Simulator and RTL take the same cycles."""
    result = samhw("correlate", GCN, "--data", "karate")
    assert result.exit_code == 0, result.output
    assert "8 of 8 cycle counts equal" in result.output
