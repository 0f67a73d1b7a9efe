"""The shipped testbench in Icarus Verilog, by the rules of SystemVerilog and of Verilog 2005; skipped where
there is none. Icarus has four states: what had no value before the reset is unknown, and stays so in what
depends on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.command import good
from tests.support.power_on import without_initial_values

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("iverilog") is None, reason="needs Icarus Verilog (apt-get install iverilog)"
    ),
]

BUILDS: dict[str, Sequence[object]] = {
    "spmm": ["spmm", "--data", "random:size=10"],
    "sddmm": ["sddmm", "--data", "random:size=8"],
    "gcn": ["gcn", "--data", "karate", "--value", "f32"],
    "lanes": ["spmm", "--data", "random:size=10", "--lanes", "i=2"],
    "blocks": ["spmm", "--data", "random:size=8", "--blocks", "i=4+k=4"],
    "split": ["spmm", "--data", "random:size=10", "--split", "A=hyb(1,2)"],
    "scan": ["stacked_rnn"],
    "host": ["spmm", "--data", "random:size=10", "--host", "axi4,clock,interrupt,pingpong,recovery,counters"],
}


def bench(folder: Path, generation: str) -> str:
    """What the testbench prints; `run.py` leaves the language to cocotb, which asks for SystemVerilog."""
    runner = folder / "bench" / "run.py"
    text = runner.read_text()
    asked = "build_args=[str"
    assert asked in text
    runner.write_text(text.replace(asked, f'build_args=["{generation}"] if SIMULATOR == "icarus" else [str'))
    environment = {**os.environ, "SIM": "icarus"}
    done = subprocess.run(
        [sys.executable, runner], env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("name", BUILDS)
def test_the_testbench_holds(name: str, tmp_path: Path) -> None:
    good("build", *BUILDS[name], "--target", "verilog", "-o", tmp_path / "out")
    said = bench(tmp_path / "out", "-g2012")
    assert "PASS=2 FAIL=0" in said, said[-3000:]


@pytest.mark.parametrize("name", ["spmm", "host"])
@pytest.mark.parametrize("generation", ["-g2005", "-g2012"])
def test_nothing_has_a_value_at_power_on(generation: str, name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    good("build", *BUILDS[name], "--target", "verilog", "-o", out)
    for path in (out / "rtl").iterdir():
        path.write_text(without_initial_values(path.read_text()))
    said = bench(out, generation)
    assert "PASS=2 FAIL=0" in said, said[-3000:]
