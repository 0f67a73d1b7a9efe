"""The Verilog deliverable: its files, its names, and what Verilator's lint says of it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.rtl import LINT_EXCEPTIONS
from samhw.targets.building import verilator
from samhw.targets.building.verilator import find_verilator

DOT = """
tensor a[i=50] : csf
tensor b[i=50] : csf
tensor s : dense
s = a[i] * b[i]
"""
"""With a memory of one word, whose address has no bits."""

AXI = {
    *("awaddr", "awprot", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid"),
    *("bready", "araddr", "arprot", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready"),
}


def built(folder: Path, program: str, *options: str) -> Path:
    """The build of a program."""
    out = folder / "out"
    result = CliRunner().invoke(
        main, ["build", program, *options, "--target", "verilog", "-o", str(out)], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return out


def lint(folder: Path, name: str, *more: str) -> str:
    """What Verilator has to say."""
    verilator = find_verilator()
    command = [verilator.program, "--lint-only", "-Wall", *more, "-f", f"{name}.f"]
    done = subprocess.run(
        command, cwd=folder, env=verilator.environment(), capture_output=True, text=True, check=False
    )
    return done.stderr


def test_the_command_of_the_lint_exceptions_is_one(tmp_path: Path) -> None:
    """As it is written, by what pip has installed beside Python."""
    out = built(tmp_path, "spmv", "--data", "karate")
    found = re.search(r'"(verilator-cli .*?)"', (out / "samhw_top.vlt").read_text())
    assert found
    document = Path(__file__).parents[2] / "docs" / "host_port.md"
    said = found[1].replace("samhw_top", "conv")
    assert said in document.read_text(encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(found[1].split(), cwd=out, env={**os.environ, "PATH": path}, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_files_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verilator, "find_cpp_compiler", lambda: pytest.fail("a compiler was looked for"))
    out = built(tmp_path, "spmm", "--data", "karate", "--name", "conv")
    files = (out / "conv.f").read_text().split()
    assert sorted(files) == sorted(f"rtl/{path.name}" for path in (out / "rtl").iterdir())
    for file in files:
        text = (out / file).read_text()
        modules = re.findall(r"^module (\S+?)\s*[(#]", text, re.MULTILINE)
        assert modules == [Path(file).stem]
        assert re.fullmatch(r"conv(_\w+)?", modules[0])
        assert text.count("endmodule") == 1
        assert "[-1:0]" not in text
    assert files[0] == "rtl/conv.v"
    top = (out / files[0]).read_text()
    ports = set(re.findall(r"^  (?:input|output) (?:\[\d+:0\] )?(\w+)", top, re.MULTILINE))
    assert ports == {f"s_axi_{name}" for name in AXI} | {
        *("aclk", "aresetn", "running", "done", "error", "cycle"),
    }
    bits = json.loads((out / "address_map.json").read_text())["address_bits"]
    for name in ("awaddr", "araddr"):
        assert f"  input [{bits - 1}:0] s_axi_{name};" in top
    header = (out / "address_map.h").read_text()
    assert "#define CONV_MEM_A_crd1 " in header
    assert "SAMHW_TOP" not in header


def test_what_is_made_alike_shares_a_module(tmp_path: Path) -> None:
    """Its module says what it does, and each of its instances where in the fusion table it comes from."""
    out = built(tmp_path, "spmm", "--data", "karate")
    (module,) = (out / "rtl").glob("samhw_top_scan_dense_?.v")
    rule = "In `ref`, out `crd` and `ref`, N being the run-time `extent`: the actors *scale* and *walk*."
    assert module.read_text().startswith(f"// {rule}\nmodule ")
    fabric = (out / "rtl" / "samhw_top_fabric.v").read_text()
    for index, tensor, ref in [("i", "A", "root"), ("j", "X", "⟨X_k⟩")]:
        assert (
            f"  // {index}, {tensor}: LS({ref})\n"
            f"  // scan_dense(extent={index}), as in docs/primitives.md.\n"
            f"  {module.stem} scan_dense_{tensor}_{index} (\n"
        ) in fabric


@pytest.mark.parametrize("program", ["spmm", "gat"])
def test_no_simulator_waits_for_a_change_at_time_0(program: str, tmp_path: Path) -> None:
    """SystemVerilog initialises variables without an event, so that a combinational block may never run. And
    Icarus Verilog takes a function whose name begins with a dollar for one of the system."""
    out = built(tmp_path, program, "--data", "random", "--value", "f32")
    text = "".join(path.read_text() for path in (out / "rtl").iterdir())
    assert set(re.findall(r"always @(?! *\(posedge clk\)).*", text)) == set()
    assert set(re.findall(r"always_\w+", text)) == set()
    functions = re.findall(r"^ *function (?:\[\d+:0\] )?(\S+)", text, re.MULTILINE)
    assert functions
    assert not any(name.lstrip("\\").startswith("$") for name in functions)


@pytest.mark.parametrize("name", ["", "2nd", "a b", "a.b", "wire", "../x"])
def test_names_that_are_none(name: str, tmp_path: Path) -> None:
    build = ["build", "spmv", "--data", "karate", "--target", "verilog"]
    command = [*build, "--name", name, "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "--name" in result.output
    assert not (tmp_path / "out").exists()


def test_name_belongs_to_its_targets(tmp_path: Path) -> None:
    build = ["build", "spmv", "--data", "karate", "--target", "sim"]
    command = [*build, "--name", "conv", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "--name belongs to '--target verilog'" in result.output


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize(
    "words",
    [
        "spmm --data random --value f32",
        "stacked_rnn",
        "DOT --value f32",
        pytest.param("gat --data random --value f32", marks=pytest.mark.slow),
        pytest.param("spmm --data random --lanes i=2 --split A=hyb(1,2)", marks=pytest.mark.slow),
        pytest.param("spmm --data random:size=16 --blocks i=4+k=4", marks=pytest.mark.slow),
        pytest.param("spmspm_kij --data random", marks=pytest.mark.slow),
        pytest.param("selective_scan --data random", marks=pytest.mark.slow),
    ],
)
def test_lint_is_silent(words: str, tmp_path: Path) -> None:
    """Of the top, and of the wrapper, which the testbench builds. And not without the stated exceptions."""
    program, *options = words.split()
    if program == "DOT":
        program = str(tmp_path / "dot.ein")
        Path(program).write_text(DOT)
    out = built(tmp_path, program, *options)
    assert lint(out, "samhw_top", "samhw_top.vlt") == ""
    assert lint(out, "samhw_top", "samhw_top.vlt", "samhw_top_axi.v", "--top-module", "samhw_top_axi") == ""
    said = lint(out, "samhw_top")
    found = set(re.findall(r"^%Warning-(\w+)", said, re.MULTILINE))
    assert found
    assert found - {"UNUSEDPARAM"} <= LINT_EXCEPTIONS.keys()
    # Of parameters, only that which is an attribute's value.
    unused = re.findall(r"^%Warning-UNUSEDPARAM.*", said, re.MULTILINE)
    assert all(line.endswith("Parameter is not used: 'TENSOR'") for line in unused)
