"""What stands around the Verilog: wrapper, driver, testbench, packages."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from samhw.graph import HostOptions
from samhw.rtl.axi4 import Axi4Signature
from samhw.rtl.host_port import AxiLiteSignature
from samhw.targets.building.cpp_compiler import find_cpp_compiler
from samhw.targets.building.project import _pins
from samhw.targets.building.verilator import find_verilator
from tests.support.command import good, refused

PROGRAM = "tensor x[i=20] : csf\ntensor y[i=20] : csf\ny[i] = x[i] * x[i] + x[i]\n"


@pytest.fixture(scope="module", params=["", "axi4,clock,interrupt,pingpong,recovery"], ids=["least", "most"])
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build with a run's data, in integers and in floating point."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "program.ein").write_text(PROGRAM)
    out = folder / "out"
    more = ("--host", request.param, "--value", "bf16") if request.param else ()
    good(
        "build",
        folder / "program.ein",
        "--data",
        "random:size=20",
        *more,
        "--target",
        "verilog",
        "--name",
        "conv",
        "-o",
        out,
    )
    return out


@pytest.mark.parametrize(
    ("host", "signature"), [("", AxiLiteSignature(12)), ("axi4:7,interrupt", Axi4Signature(12, 7))]
)
def test_the_pins_are_those_of_the_port(host: str, signature: wiring.Signature) -> None:
    wanted = {
        (name, 0 if name.endswith("addr") else _bits(member.shape), member.flow is In)
        for name, member in signature.members.items()
    }
    assert {(pin.name, pin.width, pin.way == "input") for pin in _pins(HostOptions.parse(host))} == wanted


def _bits(shape: object) -> int:
    return shape if isinstance(shape, int) else 2


@pytest.mark.slow
@pytest.mark.verilator
def test_the_testbench_passes_as_generated(build: Path) -> None:
    """And fails where a result or the cycles are others."""
    command = [sys.executable, build / "bench" / "run.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS=2 FAIL=0" in done.stdout + done.stderr
    path = build / "bench" / "words.json"
    words = json.loads(path.read_text())
    for change in (
        {"cycles": words["cycles"] + 1},
        {"results": {"y.vals": [1, *words["results"]["y.vals"]]}},
    ):
        path.write_text(json.dumps(words | change))
        assert subprocess.run(command, capture_output=True).returncode == 1
    path.write_text(json.dumps(words))


FAR = ("--memory", "ddr4", "--ports", "line=32,beat=8,lines=4,ahead=1", "--place", "x=ddr,y.vals=ddr")
"""Two inputs and a result off the chip, the others on it."""


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.nightly
def test_the_testbench_answers_masters(tmp_path: Path) -> None:
    """Words and cycles are those of the simulator, and another latency takes others."""
    (tmp_path / "program.ein").write_text(PROGRAM)
    out = tmp_path / "out"
    good(
        "build", tmp_path / "program.ein", "--data", "random:size=20", *FAR, "--target", "verilog", "-o", out
    )
    far = json.loads((out / "address_map.json").read_text())["off_chip"]["arrays"]
    assert {"x.vals", "y.vals"} <= {array["memory"] for array in far}
    command = [sys.executable, out / "bench" / "run.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "PASS=2 FAIL=0" in done.stdout + done.stderr, done.stdout + done.stderr
    path = out / "bench" / "words.json"
    words = json.loads(path.read_text())
    for change in (
        {"latency": words["latency"] + 1},
        {"results": {"y.vals": [1, *words["results"]["y.vals"]]}},
    ):
        path.write_text(json.dumps(words | change))
        assert subprocess.run(command, capture_output=True).returncode == 1


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("memory", ["constant:3", "sdram"])
def test_memory_off_the_chip_has_pins(memory: str, tmp_path: Path) -> None:
    """Which the wrapper passes on, and lint is silent."""
    if memory == "sdram":
        pytest.importorskip("litedram")
    (tmp_path / "program.ein").write_text(PROGRAM)
    out, more = tmp_path / "out", ("--clock", "50MHz") if memory == "sdram" else ()
    good("build", tmp_path / "program.ein", *("--memory", memory), *more, *("--target", "verilog", "-o", out))
    wrapper = (out / "samhw_top_axi.v").read_text()
    pin = "input wire [15:0] sdram_dq_i" if memory == "sdram" else "input wire m_axi0_arready"
    assert f"    {pin},\n" in wrapper
    assert ("m_axi0 ARREADY" in wrapper) == (memory != "sdram")
    assert (out / "rtl" / "samhw_sdram_controller.v").exists() == (memory == "sdram")
    assert not (out / "samhw_top_litex.py").exists()
    verilator = find_verilator()
    files = ["samhw_top.vlt", "samhw_top_axi.v", "-f", "samhw_top.f", "--top-module", "samhw_top_axi"]
    command = [verilator.program, "--lint-only", "-Wall", *files]
    done = subprocess.run(command, cwd=out, env=verilator.environment(), capture_output=True, text=True)
    assert done.stderr == ""


def test_a_clock_is_that_of_a_controller(tmp_path: Path) -> None:
    build = ("build", "spmv", "--data", "karate", "--target", "verilog", "-o", tmp_path / "out")
    assert "unless it has an SDRAM; leave out --clock" in refused(*build, "--clock", "50MHz")
    assert "from 13.3 to 50 ns" in refused(*build, "--clock", "80MHz", "--memory", "sdram")


def test_a_build_without_data_has_registers_to_try(tmp_path: Path) -> None:
    (tmp_path / "program.ein").write_text(PROGRAM)
    good("build", tmp_path / "program.ein", "--target", "verilog", "-o", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "bench" / "words.json").read_text()) == {}


@pytest.mark.parametrize("more", [[], ["-GADDRESS_WIDTH=12"]])
def test_lint_of_the_wrapper_is_silent(build: Path, more: list[str]) -> None:
    """As wide as 32 bits, and as the design's own."""
    assert json.loads((build / "address_map.json").read_text())["address_bits"] == 12
    verilator = find_verilator()
    files = ["conv.vlt", "conv_axi.v", "-f", "conv.f", "--top-module", "conv_axi"]
    command = [verilator.program, "--lint-only", "-Wall", *more, *files]
    done = subprocess.run(command, cwd=build, env=verilator.environment(), capture_output=True, text=True)
    assert done.stderr == ""


DRIVEN = """
#include <stdint.h>
#include <stdio.h>
static uint32_t words[1024];
static uint32_t seen(uint32_t address) { printf("r %u\\n", address); return words[address / 4]; }
static void put(uint32_t address, uint32_t word) { printf("w %u %u\\n", address, word); }
#define CONV_READ(base, address) seen((uint32_t)((base) + (address)))
#define CONV_WRITE(base, address, word) put((uint32_t)((base) + (address)), (word))
#include "driver.h"
#define SAY(call) printf("= %d\\n", (int)(call))
int main(void)
{
    uint32_t data[3] = {7, 8, 9}, got[2];
    SAY(conv_check(0));
    words[CONV_IDENTITY / 4] = CONV_IDENTITY_VALUE;
    SAY(conv_check(0));
    SAY(conv_set_i(0, CONV_EXTENT_i_MAX + 1));
    SAY(conv_set_i(0, 20));
    SAY(conv_write_x_vals(0, data, 3));
    SAY(conv_write_x_vals(0, data, 1000));
    conv_start(0);
    SAY(conv_wait(0, 2));
    words[CONV_STATUS / 4] = CONV_STATUS_DONE;
    SAY(conv_wait(0, 2));
    words[CONV_CYCLES_LO / 4] = 77;
    SAY(conv_cycles(0));
    words[CONV_MEM_y_pos0 / 4 + 1] = 5;
    SAY(conv_read_y_pos0(0, got, 2));
    SAY(got[1]);
    words[CONV_STATUS / 4] = CONV_STATUS_ERROR;
    SAY(conv_wait(0, 2));
    words[CONV_ERROR / 4] = CONV_ERROR_CAPACITY;
    SAY(conv_error(0, got));
    return 0;
}
"""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_driver_makes_the_accesses_of_the_map(language: str, build: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(DRIVEN)
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-std={'c99' if language == 'c' else 'c++11'}"]
    program = tmp_path / "driven"
    words = ["-x", language, *strict, f"-I{build}", tmp_path / "main.c", "-o", program]
    done = find_cpp_compiler().run(*words)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    found = json.loads((build / "address_map.json").read_text())
    registers = {name: f"r {address}" for name, address in found["registers"].items()}
    at = {memory["name"]: memory["address"] for memory in found["memories"]}
    status = registers["STATUS"]
    assert sorted(said[-3:-1]) == sorted([registers["ERROR"], registers["ERROR_NODE"]])
    assert said[:-3] + said[-1:] == [
        *(registers["IDENTITY"], "= -1", registers["IDENTITY"], "= 0"),
        *("= -2", f"w {found['extents']['i']['address']} 20", "= 0"),
        *(f"w {at['x.vals'] + 4 * place} {word}" for place, word in enumerate([7, 8, 9])),
        *("= 0", "= -2", f"w {found['registers']['CONTROL']} 1"),
        *(status, status, "= -4", status, "= 0"),
        *(registers["CYCLES_HI"], registers["CYCLES_LO"], "= 77"),
        *(f"r {at['y.pos0']}", f"r {at['y.pos0'] + 4}", "= 0", "= 5"),
        *(status, "= -3", "= 2"),
    ]


def test_litex_has_every_port(build: Path) -> None:
    """LiteX itself is no dependency: what it is given is compared with the module."""
    tree = ast.parse((build / "conv_litex.py").read_text())
    (instance,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Instance"
    )
    given = {str(keyword.arg) for keyword in instance.keywords}
    text = (build / "rtl" / "conv.v").read_text()
    ports = re.findall(r"^  (input|output) (?:\[\d+:0\] )?(\w+)", text, re.MULTILINE)
    assert given == {f"{way[0]}_{name}" for way, name in ports}


def test_what_was_never_run_says_so(build: Path) -> None:
    assert "# Never run:" in (build / "package.tcl").read_text()
    for name in ("conv_axi.v", "driver.h", "conv_litex.py", "conv_pynq.py"):
        assert "Not checked:" in (build / name).read_text()
