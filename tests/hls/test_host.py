"""The host program, with XRT's calls in software (`xrt_in_software`) and the kernel as a function."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Arch, Design, Placement
from samhw.graph.numerics import value_type
from samhw.hls import Options, emit_together
from samhw.lang import parse
from samhw.targets.building.hls_tools import compile_cpp
from samhw.targets.running.csim import project_files
from samhw.targets.running.inputs import inputs_of
from tests.hls.vitis_in_software import BURSTS

XRT = Path(__file__).parent / "xrt_in_software" / "xrt"


A, X = "tensor A[i=8, k=8] : csr\n", "tensor X[k=8, j=4] : dense\n"

PROGRAMS = {
    "spmm": A + X + "T[i, j] = A[i, k] * X[k, j]\n",
    "square": A + "tensor T[i, j] : csr\nT[i, j] = A[i, k] * A[k, j]\n",
    "layer": A + X + "T[i, j] = A[i, k] * X[k, j]\nY[i, j] = relu(T[i, j])\n",
}


def host(folder: Path, program: str, value: str, options: Options | None = None) -> list[str]:
    """The command that runs a program's host on its test words, which it leaves in a folder."""
    workload = make_workload(parse(PROGRAMS[program], f"{program}.ein"))
    compiled = compile_workload(workload, Schedule(fuse="none"), value=value_type(value), arch=Arch.vitis())
    files = project_files(compiled, inputs_of(compiled, workload.tensors), options or Options(one_top=True))
    for path, text in files.items():
        if path.startswith("tb_data/"):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
    (path,) = (path for path in files if path.startswith("host/"))
    own = {path: files[path]}
    if "regions.json" in files:
        own |= emit_together([Design.of(graph) for graph in compiled.design.runs], compiled.arch, options)
        tops = [entry["kernel"] for entry in json.loads(files["regions.json"])]
    else:
        own |= {path: text for path, text in files.items() if path.startswith("src/")}
        tops = [Path(path).name.removesuffix("_host.cpp")]
    own |= {f"src/xrt/{path.name}": path.read_text() for path in XRT.iterdir()}
    sources = {**own, **BURSTS, **kernels(own, tops)}
    sources["all.cpp"] = f'#include "kernels.h"\n#include "{path}"\n'
    (folder / "card.xclbin").touch()
    return [
        str(compile_cpp(sources, ["all.cpp"])),
        str(folder / "card.xclbin"),
        "--data",
        str(folder / "tb_data"),
    ]


def kernels(sources: dict[str, str], tops: list[str]) -> dict[str, str]:
    """Each kernel in a namespace of its own, after the library that they share."""
    library = sorted(
        path for path in sources if path.startswith("src/samhw/") and not path.endswith("csim.hpp")
    )
    used = set(re.findall(r"^#include <\w+>$", "\n".join(sources.values()), re.MULTILINE))
    lines = [*sorted(used), *(f'#include "{path.removeprefix("src/")}"' for path in library)]
    for n, top in enumerate(tops):
        whole = sorted(p.removeprefix("src/") for p in sources if re.fullmatch(r"src/\w+\.cpp", p))
        units = [f"{top}.cpp"] if len(tops) > 1 else whole
        lines += [f"namespace space_{n} {{", *(f'#include "{unit}"' for unit in units), "}"]
    listed = " ".join(f"call(space_{n}, {top})" for n, top in enumerate(tops))
    return {"src/kernels.h": "\n".join(["#pragma once", *lines, f"#define KERNELS(call) {listed}", ""])}


def run(command: list[str]) -> tuple[int, str]:
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return found.returncode, found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "value", "on_chip"), [("square", "bf16", False), ("layer", "f8e4m3", True)]
)
def test_a_host(tmp_path: Path, program: str, value: str, on_chip: bool) -> None:
    """Words of 16 and 8 bits, one region whose memories have several readers, and several regions."""
    command = host(
        tmp_path, program, value, Options(one_top=True, placement=Placement(room=None if on_chip else 0))
    )
    code, text = run(command)
    assert (code, text.split(",")[0]) == (0, f"{program}_kernel: PASS")


@pytest.mark.slow
def test_several_kernels(tmp_path: Path) -> None:
    """One host runs them; what is wrong in one of them it says with its region."""
    command = host(tmp_path, "layer", "i32", Options(placement=Placement(room=0)))
    code, text = run(command)
    assert (code, text.split(",")[0]) == (0, "layer_kernel: PASS")
    (tmp_path / "out").mkdir()
    assert run([*command, "--results", str(tmp_path / "out")])[0] == 0
    golden = (tmp_path / "tb_data" / "Y_vals.txt").read_text()
    assert (tmp_path / "out" / "Y_vals.txt").read_text().startswith(golden)
    assert [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith("T")] == []
    (tmp_path / "tb_data" / "A_crd1.txt").write_text("999\n" * 3)
    code, text = run(command)
    assert code == 1
    assert text == "range error at node scan_compressed_A_k of region layer_0_kernel\n"


@pytest.mark.slow
def test_what_is_wrong(tmp_path: Path) -> None:
    command = host(tmp_path, "spmm", "i32")
    data = tmp_path / "tb_data"
    golden, coordinates = data / "T_vals.txt", data / "A_crd1.txt"
    right = golden.read_text().splitlines(keepends=True)
    golden.write_text("".join(["7\n" if right[0] != "7\n" else "8\n", *right[1:]]))
    code, text = run(command)
    assert code == 1
    assert f"T_vals[0] is {right[0].strip()}, not " in text
    assert "spmm_kernel: FAIL" in text

    golden.write_text("".join(right))
    stored = coordinates.read_text().splitlines(keepends=True)
    coordinates.write_text("".join(["999\n", *stored[1:]]))
    assert run(command) == (1, "range error at node scan_compressed_A_k\n")
    coordinates.unlink()
    assert run(command) == (2, f"{coordinates} cannot be read\n")
    coordinates.write_text("".join(stored))
    assert run([*command, "--results", str(tmp_path)])[0] == 0
    assert (tmp_path / "T_vals.txt").read_text().startswith("".join(right))
    late = subprocess.run(command, env={**os.environ, "LATE": "1"}, capture_output=True, text=True)
    assert (late.returncode, late.stderr) == (1, "spmm_kernel has not ended after 60 s\n")
    usage = "XCLBIN [--data FOLDER] [--results FOLDER] [--device NUMBER] [--seconds NUMBER]"
    for wrong in ([], ["x", "--data"], ["x", "--date", "y"]):
        assert run([command[0], *wrong]) == (2, f"usage: spmm_kernel_host {usage}\n")
