"""The emitted project: what it looks like, and that it is the same every time."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import samhw
from samhw.app.workload import compile_workload, make_workload
from samhw.errors import InputError
from samhw.graph import Arch, Channel, Design, Endpoint, Placement
from samhw.hls import Options, emit, emit_together, lower, simulated
from samhw.hls.cpp import comment, top_name
from samhw.hls.emit import check
from samhw.hls.region_builder import SPARE
from samhw.lang import parse
from tests.hls import example
from tests.hls.test_kernels import compiled

CLANG_FORMAT = shutil.which("clang-format") or shutil.which("clang-format", path=Path(sys.executable).parent)
"""Of the system, or of the Python package."""


def test_example_is_what_the_generator_emits() -> None:
    files = example.files()
    kept = {
        str(p.relative_to(example.FOLDER)): p.read_text(encoding="utf-8")
        for p in example.FOLDER.rglob("*")
        if p.is_file() and "build" not in p.relative_to(example.FOLDER).parts
    }
    assert kept.keys() == files.keys()
    for path, text in files.items():
        assert kept[path] == text, f"{path} has changed; run python -m tests.hls.example"


def test_same_design_same_text() -> None:
    first, _ = compiled("sddmm", "f32")
    second, _ = compiled("sddmm", "f32")
    assert emit(first.design, first.arch) == emit(second.design, second.arch)


def test_a_change_changes_only_what_it_must() -> None:
    """A deeper channel: its pragma in the kernel, and the testbench's table of depths."""
    program, _ = compiled("spmm", "i32")
    (graph,) = program.design.regions
    channel = graph.channels[3]
    deeper = Design.of(graph.with_depths({channel.name: channel.depth + 7}))
    before, after = emit(program.design, program.arch), emit(deeper, program.arch)
    assert {path for path in before if before[path] != after[path]} == {
        "src/spmm_kernel.cpp",
        "tb/spmm_kernel_test.cpp",
    }
    changed = set(after["src/spmm_kernel.cpp"].splitlines()) ^ set(before["src/spmm_kernel.cpp"].splitlines())
    assert len(changed) == 2
    assert all(line.startswith("#pragma HLS STREAM") for line in changed)


def test_designs_together_keep_their_files() -> None:
    """One program of several designs has what each project has, but for the library that they share."""
    designs = [compiled(kernel, "f32")[0].design for kernel in ("spmm", "sddmm")]
    files = emit_together(designs, Arch())
    for design in designs:
        alone = emit(design, Arch())
        own = {path for path in simulated(alone) if not path.startswith("src/samhw/")}
        assert {path: files[path] for path in own} == {path: alone[path] for path in own}
        assert {p for p in alone if p.startswith("src/samhw/")} <= files.keys()
    assert "struct mul {" in files["src/samhw/alu.hpp"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (("spmm", "f32"), ("sddmm", "i32"), "must have one value type"),
        (("spmm", "f32"), ("spmm", "f32"), "two designs have files of the name src/spmm_kernel.cpp"),
    ],
)
def test_designs_that_cannot_be_together(
    first: tuple[str, str], second: tuple[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        emit_together([compiled(*first)[0].design, compiled(*second)[0].design], Arch())


def test_pragmas_have_the_depths_of_the_channels() -> None:
    program, _ = compiled("spmspm_kij", "i32")
    text = emit(program.design, program.arch)["src/spmspm_kij_kernel.cpp"]
    depths = dict(re.findall(r"#pragma HLS STREAM variable=(\w+) depth=(\d+)", text))
    streams = {s.channel: s for s in lower(program.design, program.arch).streams.values() if s.channel}
    assert len(depths) == text.count('("') == len(lower(program.design, program.arch).streams)
    several = {
        s.name for p in lower(program.design, program.arch).processes if len(p.writes) > 1 for s in p.writes
    }
    for _, channel in program.design.channels:
        name = streams[channel.name].name
        assert depths[name] == str(channel.depth + SPARE * (name in several))


def test_pragmas() -> None:
    program, _ = compiled("spmm", "i32")
    on_chip = emit(program.design, program.arch)
    direct = emit(program.design, program.arch, Options(placement=Placement(room=0)))
    assert "#pragma HLS DATAFLOW" in on_chip["src/spmm_kernel.cpp"]
    assert "type=pipo" in on_chip["src/spmm_kernel.cpp"]
    assert "_chip" not in direct["src/spmm_kernel.cpp"]
    assert "src/samhw/lines.hpp" in direct.keys() - on_chip.keys()
    pointers = direct["src/spmm_kernel.cpp"].count("INTERFACE m_axi")
    assert pointers == len(program.design.memories) + 1  # And the status.
    for path, text in on_chip.items():
        if path.startswith("src/samhw/") and "while (" in text and not path.endswith("csim.hpp"):
            assert "#pragma HLS PIPELINE II=1" in text or "drained(" in text, path


def test_options() -> None:
    program, _ = compiled("spmm", "i32")
    files = emit(program.design, program.arch, Options(part="xcu250-figd2104-2L-e", clock=3.33))
    assert "part=xcu250-figd2104-2L-e\n" in files["hls_config.cfg"]
    assert "clock=3.33ns\n" in files["hls_config.cfg"]
    assert "set_part xcu250-figd2104-2L-e\ncreate_clock -period 3.33 " in files["run_hls.tcl"]


def test_a_card_has_a_device_and_its_memory() -> None:
    program, _ = compiled("spmm", "i32")
    files = emit(program.design, program.arch, Options(part="U280", clock=5))
    assert "part=xcu280-fsvh2892-2L-e\n" in files["hls_config.cfg"]
    lines = files["link.cfg"].splitlines()
    assert "nk=spmm_kernel:1:spmm_kernel_1" in lines
    assert "freqHz=200000000:spmm_kernel_1.ap_clk" in lines
    joined = [line for line in lines if line.startswith("sp=")]
    pointers = re.findall(r"m_axi port=(\w+)", files["src/spmm_kernel.cpp"])
    assert [line.partition(":")[0] for line in joined] == [f"sp=spmm_kernel_1.{name}" for name in pointers]
    # Four masters of copies and that of the status, in a bank of its own each.
    assert len({line.partition(":")[2] for line in joined}) == 5
    assert len(pointers) == 8
    plain = emit(program.design, program.arch, Options(part="xcvu9p-flgb2104-2-i"))
    assert "sp=" not in plain["link.cfg"]


@pytest.mark.parametrize("part", ["no device", "nonsense", "u999", "xcvu9p", "xc-1"])
def test_what_is_no_device_is_refused(part: str) -> None:
    with pytest.raises(InputError, match="such as xcu55c-fsvh2892-2L-e, or that of a card: f1, f2, u50"):
        Options(part=part)


@pytest.mark.parametrize(
    "part",
    [
        *(
            "xcvu9p-flgb2104-2-i",
            "xck26-sfvc784-2LV-c",
            "xc7a35tcpg236-1",
            "xc7z020-clg484-1",
            "xa7z020-clg484-1Q",
        ),
        *(
            "xczu3eg-sbva484-1-e",
            "xcvc1902-vsva2197-2MP-e-S",
            "xcv80-lsva4737-2MHP-e-S",
            "xcau25p-ffvb676-1-e",
        ),
    ],
)
def test_devices_of_every_family(part: str) -> None:
    """As AMD's documents name them."""
    assert Options(part=part).part == part


def test_comments_name_the_cells_of_the_table() -> None:
    program, _ = compiled("spmm", "i32")
    text = emit(program.design, program.arch)["src/spmm_kernel.cpp"]
    for _, node in program.design.nodes:
        assert not node.note or f"    // {comment(node.note)}\n" in text
    for text_of_its_own in ("root", "val: A_val * X_val", "j, T: LW(T_j)", "val, T: LW(T_val)"):
        assert f"    // {text_of_its_own}\n" in text
    assert text.isascii()


@pytest.mark.parametrize(
    ("program", "name"),
    [("spmm", "spmm_kernel"), ("union", "union_kernel"), ("2mm", "n2mm_kernel"), ("my-ä p", "my___p_kernel")],
)
def test_top_names(program: str, name: str) -> None:
    assert top_name(program) == name


def test_a_tensor_that_is_read_twice_has_two_ports() -> None:
    text = "tensor A[i=8, j=8] : csr\ntensor X[i, k] : csr\nX[i, k] = A[i, j] * A[j, k]\n"
    workload = make_workload(parse(text, "square.ein"))
    program = compile_workload(workload)
    (region,) = lower(program.design, program.arch).regions
    names = [port.name for port in region.inputs]
    assert {"A_vals", "A_vals_2"} <= set(names)


def test_check_finds_a_second_reader() -> None:
    program, _ = compiled("spmv", "i32")
    lowered = lower(program.design, program.arch)
    check(lowered, {})
    (region,) = lowered.regions
    doubled = replace(region, processes=(*region.processes, region.processes[-1]))
    with pytest.raises(AssertionError, match="read by 2 processes"):
        check(replace(lowered, regions=(doubled,)), {})
    backwards = replace(region, processes=region.processes[::-1])
    with pytest.raises(AssertionError, match="before it is written"):
        check(replace(lowered, regions=(backwards,)), {})
    shuffled = replace(region, streams=region.streams[::-1])
    with pytest.raises(AssertionError, match="not declared in the order"):
        check(replace(lowered, regions=(shuffled,)), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void f() {\n    int *p = new int;\n}\n", "uses new"),
        ("void f() {\n    std::vector<int> v;\n}\n", "uses std::vector"),
        ("void f() {\n    static const int a[] = {1};\n}\n", "without a size"),
    ],
)
def test_check_finds_what_cannot_be_synthesised(text: str, message: str) -> None:
    program, _ = compiled("spmv", "i32")
    with pytest.raises(AssertionError, match=message):
        check(lower(program.design, program.arch), {"src/f.cpp": text})


def test_a_graph_that_is_not_sound_is_refused() -> None:
    program, _ = compiled("spmv", "i32")
    (graph,) = program.design.regions
    stray = Channel(Endpoint("root", "out"), Endpoint("nowhere", "in"), 1, 1)
    with pytest.raises(InputError, match="nowhere"):
        emit(Design.of(replace(graph, channels=(*graph.channels, stray))), program.arch)


@pytest.mark.skipif(CLANG_FORMAT is None, reason="clang-format is not installed")
@pytest.mark.parametrize(("kernel", "value"), [("mttkrp", "i32"), ("spmspm_kij", "f32"), ("plus3", "bf16")])
def test_layout(kernel: str, value: str, tmp_path: Path) -> None:
    """As clang-format lays it out, but for pragmas, in which it would put spaces around every equals sign."""
    program, _ = compiled(kernel, value)
    assert_laid_out(emit(program.design, program.arch), tmp_path)


def assert_laid_out(files: dict[str, str], folder: Path) -> None:
    (folder / ".clang-format").write_text(files[".clang-format"])
    for path, text in files.items():
        if path.endswith("pp"):
            plain = re.sub(r"^#pragma HLS.*\n", "", text, flags=re.MULTILINE)
            done = subprocess.run(
                [str(CLANG_FORMAT), f"--assume-filename={folder / 'x.cpp'}"],
                input=plain, capture_output=True, text=True, check=True, cwd=folder,
            )  # fmt: skip
            assert done.stdout == plain, path


@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("end", ["", ", exclusive"])
def test_running_reductions_pass_the_check(value: str, end: str) -> None:
    for op in ("sum", "prod", "max"):
        design = samhw.compile(f"tensor v[j=8]\nC[j] = cum{op}(j, v[j]{end})", value=value)
        design.run(v=np.ones(8))
        check(lower(design.compiled.design, design.compiled.arch), {})
