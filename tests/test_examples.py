"""Every file under examples/ runs as its first lines say."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.name)
def test_python_example(path: Path) -> None:
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cycles, right\n" in done.stdout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.name)
def test_python_example_on_the_command_line(path: Path) -> None:
    result = CliRunner().invoke(main, ["run", f"{path}:program", "--data", "karate"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda p: p.name)
def test_example_of_a_memory(path: Path) -> None:
    result = CliRunner().invoke(main, ["run", "spmm", "--data", "random", "--memory", str(path)])
    assert result.exit_code == 0, result.output
    assert "memory     four DIMMs: " in result.output


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ein")), ids=lambda p: p.name)
def test_text_example(path: Path) -> None:
    value = re.search(r"^#.* samhw run .*--value (\S+)", path.read_text(), re.MULTILINE)
    options = ["--value", value[1]] if value else []
    result = CliRunner().invoke(main, ["run", str(path), "--data", "random", *options])
    assert result.exit_code == 0, result.output
    assert "right" in result.output


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("backend", ["verilator", "hls"])
def test_angles_in_hardware(backend: str) -> None:
    """Sines and cosines of the simulator and of what is built are the same bits."""
    options = ["--data", "random", "--value", "bf16", "--backend", backend]
    result = CliRunner().invoke(main, ["run", str(EXAMPLES / "rotary.ein"), *options])
    assert result.exit_code == 0, result.output
    assert "right" in result.output


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("schedule*.toml")), ids=lambda p: p.name)
def test_schedule(path: Path) -> None:
    program = re.search(r"^#.* samhw run (\S+) --schedule", path.read_text(), re.MULTILINE)
    assert program is not None
    result = CliRunner().invoke(main, ["run", program[1], "--schedule", str(path)])
    assert result.exit_code == 0, result.output
    assert "right" in result.output


@pytest.mark.slow
@pytest.mark.verilator
def test_a_testbench_of_cocotb(tmp_path: Path) -> None:
    """As a user runs it, with what pip has installed; and it fails where the testbench does."""
    folder, out = tmp_path / "cocotb", tmp_path / "out"
    shutil.copytree(EXAMPLES / "cocotb", folder)
    build = ["build", str(folder / "square.ein"), "--target", "verilog", "-o", str(out)]
    assert CliRunner().invoke(main, build).exit_code == 0
    command = [sys.executable, folder / "run.py", out]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS=1 FAIL=0" in done.stdout + done.stderr
    bench = folder / "testbench.py"
    bench.write_text(bench.read_text().replace("value**2", "value**3"))
    assert subprocess.run(command, capture_output=True).returncode == 1


def test_the_document_has_the_example() -> None:
    """Without its first comments."""
    text = (EXAMPLES / "schedule.toml").read_text(encoding="utf-8")
    example = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    document = EXAMPLES.parent / "docs" / "schedule.md"
    assert f"```toml\n{example}```" in document.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("sweep*.toml")), ids=lambda p: p.name)
def test_sweep(path: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["sweep", str(path), "-o", str(tmp_path / "results.csv")])
    assert result.exit_code == 0, result.output
    configurations, _, rest = result.output.partition(" configurations: ")
    assert rest.startswith(f"{configurations} right;")


@pytest.mark.slow
@pytest.mark.verilator
def test_a_network_with_concatenations_in_hardware() -> None:
    path = str(EXAMPLES / "graphsage_concat.ein")
    result = CliRunner().invoke(main, ["correlate", path, "--data", "random:size=8", "--value", "f32"])
    assert result.exit_code == 0, result.output
    assert "5 of 5 cycle counts equal" in result.output


def test_layers_share_nodes() -> None:
    words = ["run", f"{EXAMPLES}/pytorch/decoder.py:small", "--fuse", "none", "--share-hardware", "all"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "result     right" in result.output
