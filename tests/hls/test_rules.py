"""All kernels and models as projects that keep to the rules of AMD's documents (`rules.py`), which reads
their text. No tool of AMD's has read them."""

import os
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import Arch, Placement
from samhw.hls import Options
from samhw.hls.cards import BOARDS, Banks
from samhw.hls.masters import AxiPort, masters
from samhw.hls.program import Moment
from samhw.lang import kernel_names, model_names, parse
from samhw.targets.running.csim import project_files
from tests.hls import rules, test_kernels, test_models
from tests.running import test_side_by_side
from tests.support.hls_bench import run_hls, run_model

EXAMPLES = Path(__file__).parents[2] / "examples"
PARTS = ("u55c", "u250", "xcvu9p-flgb2104-2-i")
SCANS = ("dilated_rnn", "stacked_lstm")
BESIDE = ("gpt3_block", "gat")
"""With regions side by side."""
CASES: list[str | tuple[str, str]] = [
    *SCANS,
    *product(BESIDE, ("all",)),
    *kernel_names(),
    *product(model_names(), ("none", "partial", "full")),
]


def compiled(case: str | tuple[str, str]) -> Compiled:
    if case in SCANS:
        path = EXAMPLES / f"{case}.ein"
        workload = make_workload(parse(path.read_text(), path.name), ["random"])
        return compile_workload(workload, arch=Arch.vitis())
    if case[1] == "all":
        workload = test_models.compiled(case[0], "none", "f32")[1]
        return compile_workload(workload, Schedule(fuse="none", parallel="all"), arch=Arch.vitis())
    if isinstance(case, str):
        return test_kernels.compiled(case, "f32")[0]
    return test_models.compiled(case[0], case[1], "f32")[0]


def projects(files: dict[str, str]) -> list[dict[str, str]]:
    """The projects of a program, one or one for each region, by path in their own folders."""
    if "regions.json" not in files:
        return [files]
    folders = {path.partition("/")[0] for path in files if path.endswith("/hls_config.cfg")}
    return [
        {path.removeprefix(f"{name}/"): text for path, text in files.items() if path.startswith(f"{name}/")}
        for name in sorted(folders)
    ]


def refused(program: Compiled, options: Options) -> bool:
    """Whether a program has too many ports for one bank of memory."""
    try:
        project_files(program, options=options)
    except InputError as refusal:
        return bool(re.search(r"takes? 15\b", str(refusal)))
    return False


@pytest.mark.nightly(but=5)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case if isinstance(case, str) else "-".join(case))
def test_projects(case: str | tuple[str, str]) -> None:
    """On the chip and off it, as one top function and as a kernel for each region, for each memory."""
    program = compiled(case)
    for room, one_top, part in product((None, 0), (True, False), PARTS):
        options = Options(part=part, placement=Placement(room=room), one_top=one_top)
        # A part of no card has one bank. A card's four take what few kernels pass on to each other.
        is_narrow = (room, part) == (0, PARTS[2]) or (part == PARTS[1] and not one_top)
        if is_narrow and refused(program, options):
            continue
        files = project_files(program, options=options)
        for project in projects(files):
            rules.check_masters(project)
            rules.check_room(project)
            rules.check_banks(project)
            if part == PARTS[0]:
                rules.check_canonical(project)
                rules.check_loops(project)


def port(
    name: str, *uses: tuple[Moment, str], memory: str = "", size: int = 4, is_result: bool = False
) -> AxiPort:
    return AxiPort(name, memory or name, size, frozenset(uses), is_result=is_result)


R0, W0, R1, W1 = ((0, 0), "read"), ((0, 0), "write"), ((1, 1), "read"), ((1, 1), "write")
BOTH = ((0, 1), "read")
DDR = Banks("DDR", 4, 1 << 30)


def test_regions_share_by_turns() -> None:
    """By hand: a is read in both regions, b in the first, c in the second, where d is written."""
    ports = [port("a", R0, R1), port("b", R0), port("c", R1), port("d", W1)]
    found = masters("k", ports, DDR, by_turns=True).bundles
    assert found["a"] != found["b"] == found["c"]
    assert len(set(found.values())) == 2
    assert len(set(masters("k", ports, DDR, by_turns=False).bundles.values())) == 4


def test_a_memory_that_is_written_and_read() -> None:
    """Through one master if that is enough, else through several that are aliases."""
    state = [port("s", W0, memory="S"), port("s_2", R0, memory="S")]
    found = masters("k", state, DDR, by_turns=True)
    assert (found.bundles, found.aliases) == ({"s": "gmem0", "s_2": "gmem0"}, [])
    found = masters("k", [*state, port("s_3", R0, memory="S")], DDR, by_turns=True)
    assert len(set(found.bundles.values())) == 3
    assert found.aliases == [["s", "s_2", "s_3"]]
    assert len({found.banks[name] for name in ("s", "s_2", "s_3")}) == 1
    twice = masters("k", [port("a", R0, memory="A"), port("a_2", R0, memory="A")], DDR, by_turns=False)
    assert (len(set(twice.bundles.values())), twice.aliases) == (2, [])


def test_copies_share_four_masters() -> None:
    """By size, apart in each direction: 8 is alone, and its master takes the smaller of two results; and
    beside a reader, if regions do not run by turns, copies have masters of their own."""
    sizes = {"a": 8, "b": 4, "c": 4, "d": 2, "e": 2, "f": 2}
    copied = [port(name, size=size << 20) for name, size in sizes.items()]
    results = [port("r", size=9 << 20, is_result=True), port("s", is_result=True)]
    found = masters("k", [*copied, *results], None, by_turns=False)
    shared = [{n for n, own in found.bundles.items() if own == master} for master in found.bundles.values()]
    assert {frozenset(names) for names in shared} == {
        *map(frozenset, ({"a", "r"}, {"b", "f", "s"}, {"c"}, {"d", "e"})),
    }
    assert found.banks == {}
    for by_turns, expected in ((False, 5), (True, 4)):
        found = masters("k", [*copied, port("x", R0)], None, by_turns=by_turns)
        assert len(set(found.bundles.values())) == expected
    crowded = [*copied, *(port(f"x{n}", R0) for n in range(13))]
    found = masters("k", crowded, None, by_turns=False)
    assert len({found.bundles[name] for name in sizes}) == 1


@pytest.mark.parametrize(("memory", "most"), [(None, 14), (DDR, 59)])
def test_too_many_readers_are_refused(memory: Banks | None, most: int) -> None:
    ports = [port(f"p{n}", R0) for n in range(most + 1)]
    masters("k", ports[:-1], memory, by_turns=False)
    with pytest.raises(
        InputError, match=rf"^k needs {most + 2} ports to memory, and .* {most + 1}; lay more"
    ):
        masters("k", ports, memory, by_turns=False)


def test_a_memory_of_several_banks() -> None:
    """The largest lies in as many banks as hold it, and what is too large for all of them is refused."""
    found = masters("k", [port("a", R0, size=3 << 29), port("b", R0)], DDR, by_turns=False)
    assert found.banks == {"a": "DDR[0:1]", "b": "DDR[2]", "status": "DDR[3]"}
    with pytest.raises(InputError, match="needs 4,294,967,297 bytes of memory, and the card has fewer"):
        masters("k", [port("a", R0, size=(4 << 30) + 1)], DDR, by_turns=False)


def test_the_reader_sees_faults() -> None:
    """A region that is not canonical, two readers of a channel, and a memory with two masters."""
    files = project_files(compiled("dilated_rnn"), options=Options(placement=Placement(room=0)))
    region, top = "src/dilated_rnn_kernel_region.cpp", "src/dilated_rnn_kernel.cpp"
    scalar = re.findall(r"samhw::error_code \w+;", files[region])[0]
    call = re.findall(r"    samhw::discard\(.*;\n|    samhw::alu<.*;\n", files[region])[0]
    for wrong, message in (
        (files[region].replace(scalar, scalar[:-1] + " = 0;"), "not canonical"),
        (files[region].replace(call, call * 2), r"has \[.*'(read|write)', '(read|write)'"),
        (files[region].replace(call, f"    if (true)\n{call}"), "not canonical"),
    ):
        with pytest.raises(AssertionError, match=message):
            rules.check_canonical({**files, region: wrong})
    library = "src/samhw/alu.hpp"
    for old, new, message in (
        ("#pragma HLS LOOP_TRIPCOUNT min=1 max=most_tokens\n", "", r"alu\.hpp: while "),
        ("        if (!ready(a))\n            continue;\n", "", r"stops to read {'a'}"),
        ("style=stp", "style=flp", r"alu\.hpp"),
    ):
        assert old in files[library]
        with pytest.raises(AssertionError, match=message):
            rules.check_loops({**files, library: files[library].replace(old, new)})
    apart = files[top].replace(
        "port=H0_vals_2 offset=slave bundle=gmem2", "port=H0_vals_2 offset=slave bundle=x"
    )
    with pytest.raises(AssertionError, match=r"H0_vals is \['H0_vals', 'H0_vals_2'\]"):
        rules.check_masters({**files, top: apart})
    for wrong, message in (
        (" num_read_outstanding=16", "asks for"),
        ("length=2 num_write_outstanding=1", "vain"),
    ):
        other = wrong.replace("16", "15").replace("=2", "=4")
        assert wrong in files[top]
        with pytest.raises(AssertionError, match=message):
            rules.check_room({**files, top: files[top].replace(wrong, other)})
    with pytest.raises(AssertionError, match="are at HBM"):
        rules.check_banks(
            {**files, "link.cfg": files["link.cfg"].replace(".H0_vals_2:HBM[1]", ".H0_vals_2:HBM[9]")}
        )


def test_regions_side_by_side_keep_apart() -> None:
    """An array or a master of two bodies, which may have one each, is found; by turns they share it."""
    program = test_side_by_side.compiled()
    files = project_files(program, options=Options())
    top = "src/heads_kernel.cpp"
    rules.check_canonical(files)
    with pytest.raises(AssertionError, match="beside_0: x_vals_chip has"):
        rules.check_canonical(
            {
                **files,
                top: files[top].replace("body_1(i_extent, x_vals_2_chip", "body_1(i_extent, x_vals_chip"),
            }
        )
    files = project_files(program, options=Options(placement=Placement(room=0)))
    rules.check_masters(files)
    masters = {port: master for port, (master, _) in rules.bundles(files).items()}
    assert masters["x_vals"] != masters["x_vals_2"]
    joined = files[top].replace(f"bundle={masters['x_vals_2']} ", f"bundle={masters['x_vals']} ")
    with pytest.raises(AssertionError, match=f"'{masters['x_vals']}', 'read'"):
        rules.check_masters({**files, top: joined})


def test_readers_side_by_side_meet() -> None:
    ports = [port("a", R0, BOTH), port("b", R1, BOTH), port("c", W1)]
    found = masters("k", ports, DDR, by_turns=True).bundles
    assert found["a"] != found["b"]
    assert found["c"] in (found["a"], found["b"])


@pytest.mark.skipif(shutil.which("make") is None, reason="Makefiles are for machines that have make")
def test_emulation(tmp_path: Path) -> None:
    """What `make` would do: an emulation has a description of the card, and a card needs none."""
    files = project_files(compiled("spmv"))
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for target, expected in (("hw", False), ("hw_emu", True)):
        command = ["make", "-n", "run", f"TARGET={target}", "PLATFORM=card"]
        steps = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert ("emconfigutil --platform card" in steps) == expected
        assert (f"XCL_EMULATION_MODE={target} build/spmv_kernel_host" in steps) == expected
        assert f"v++ -l -t {target} --platform card" in steps


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="there is no tclsh")
def test_the_tcl_script_runs_the_steps_that_are_asked_for(tmp_path: Path) -> None:
    """Under an interpreter of Tcl, whose commands of Vitis only print."""
    script = project_files(compiled("spmv"))["run_hls.tcl"]
    named = {line.strip().partition(" ")[0] for line in script.splitlines() if line.strip()}
    commands = [name for name in named if re.fullmatch(r"[a-z]+_[a-z_]+", name)]
    stubs = "".join(f'proc {name} args {{ puts "{name}" }}\n' for name in commands)
    (tmp_path / "run_hls.tcl").write_text(stubs + script)
    for asked, expected in (
        ({}, ["csim_design", "csynth_design", "export_design"]),
        ({"HLS_COSIM": "1", "HLS_CSIM": "0", "HLS_EXPORT": "0"}, ["csynth_design", "cosim_design"]),
    ):
        done = subprocess.run(
            ["tclsh", "run_hls.tcl"],
            cwd=tmp_path,
            env={**os.environ, **asked},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert [line for line in done.stdout.split() if line.endswith("_design")] == expected


TCL = """
foreach name {NAMES} {proc $name args {return $args}}
proc get_bd_intf_pins args {
    if {[lindex $args 0] ne "-of_objects"} {return $args}
    set cell [lindex $args 1]
    return [list $cell/m_axi_gmem0 $cell/m_axi_gmem1 $cell/m_axi_gmem_status]
}
proc connect_bd_intf_net {a b} {puts "$a -> $b"}
proc connect_bd_net {a b} {puts "$a => $b"}
rename file plain_file
proc file args {puts "file $args"}
proc glob args {return made.hwh}
"""
"""The commands of Vivado, for a script that must be sound in itself: a kernel has three masters."""


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="there is no tclsh")
@pytest.mark.parametrize(("part", "ports"), [("arty_z7", "S_AXI_HP{}"), ("kv260", "S_AXI_HP{}_FPD")])
def test_the_script_of_an_overlay(part: str, ports: str, tmp_path: Path) -> None:
    """Each master reaches the memory by one of four ports, and each kernel has a control port and a clock."""
    program = test_models.two_regions()[0]
    files = project_files(program, options=Options(part=part))
    script = files["overlay.tcl"]
    kernels = ["two_0_kernel", "two_1_kernel"]
    assert f"ip_repo_paths {{{' '.join(f'{name[:-7]}/{name}_ip' for name in kernels)}}}" in script
    for name in kernels:
        config = files[f"{name[:-7]}/ip_config.cfg"]
        assert "flow_target=vivado\n" in config
        assert "package.output.format=ip_catalog\n" in config
        assert f"package.ip.name={name}\n" in config
    names = set(re.findall(r"(?:^|\[)\s*([a-z]+_[a-z_]+)\b", script, re.MULTILINE))
    (tmp_path / "overlay.tcl").write_text(TCL.replace("NAMES", " ".join(sorted(names))) + script)
    done = subprocess.run(["tclsh", "overlay.tcl"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    wires = dict(line.split(" -> ") for line in done.stdout.splitlines() if " -> " in line)
    masters = [f"{name}/m_axi_{end}" for name in kernels for end in ("gmem0", "gmem1", "gmem_status")]
    assert [wires[name] for name in masters] == [f"memory{n % 4}/S{n // 4:02}_AXI" for n in range(6)]
    for port in range(4):
        assert wires[f"ps/{ports.format(port)}"] == f"memory{port}/M00_AXI"
    assert [wires[f"{name}/s_axi_control"] for name in kernels] == ["control/M00_AXI", "control/M01_AXI"]
    clocks = [line.split(" => ")[1] for line in done.stdout.splitlines() if " => " in line]
    assert len(clocks) == len(set(clocks)) == 2 + 5 + 2 * (len(kernels) + 1 + 4)
    assert done.stdout.splitlines()[-1] == "file copy -force made.hwh two_kernel.hwh"


def test_boards_are_those_of_amaranth() -> None:
    """Device, package and speed grade; the Kria is not among them."""
    boards = {name: BOARDS[name].part for name in BOARDS.keys() - {"kv260"}}
    for name, part in boards.items():
        file = name.removesuffix("_07s").removesuffix("_10") if name.startswith("cora") else name
        module = pytest.importorskip(f"amaranth_boards.{file}")
        named: Iterator[Any] = (p for p in vars(module).values() if isinstance(p, type))
        platforms = [p for p in named if isinstance(getattr(p, "device", None), str)]
        joints = ("", "-") if part.startswith("xc7") else ("-", "-")
        found = {f"{p.device}{joints[0]}{p.package}{joints[1]}{p.speed}" for p in platforms}
        assert part in found, name


@pytest.mark.skipif(shutil.which("make") is None, reason="Makefiles are for machines that have make")
def test_what_a_board_starts_from(tmp_path: Path) -> None:
    """`make` would cross-compile the host, and package it with the kernel."""
    files = project_files(compiled("spmv"), options=Options(part="kv260"))
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert "clock=5ns\n" in files["hls_config.cfg"]
    command = ["make", "-n", "sd", "overlay", "PLATFORM=p", "SYSROOT=s", "ROOTFS=r", "IMAGE=i"]
    steps = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for step in (
        "aarch64-linux-gnu-g++ -std=c++17 -Wall -Wextra -Wno-unknown-pragmas --sysroot=s -Is/usr/include/xrt",
        "v++ -l -t hw --platform p --config link.cfg spmv_kernel.xo -o spmv_kernel.xclbin",
        "v++ -p -t hw --platform p --package.out_dir sd",
        "--package.sd_file build/spmv_kernel_host --package.sd_dir tb_data spmv_kernel.xclbin",
        "v++ -c --mode hls --config ip_config.cfg --work_dir spmv_kernel_ip",
        "vivado -mode batch -source overlay.tcl",
    ):
        assert step in steps


@pytest.mark.slow
def test_the_stack_holds_what_is_not_a_memory(tmp_path: Path) -> None:
    """C simulation with 8 MB of stack, which is what Vitis leaves it, and 16 MB of words on the chip."""
    text = "tensor A[i=4, j=4194304] : csr\ntensor x[j] : dense\ntensor y[i] : dense\ny[i] = A[i, j] * x[j]\n"
    workload = make_workload(parse(text, "wide.ein"), ["random:density=0.000001"])
    program = compile_workload(workload)
    inputs, model = run_model(program, workload.tensors)
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, hard))
    try:
        run_hls(program, inputs, model)
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
