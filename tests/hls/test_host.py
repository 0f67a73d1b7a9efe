"""The host programs, with the calls of XRT (`xrt_in_software`) and of PYNQ in software and the kernels as
functions."""

import json
import os
import re
import runpy
import subprocess
import sys
from itertools import count, pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Arch, Design, Placement
from samhw.graph.numerics import value_type
from samhw.hls import Options, emit_together
from samhw.lang import parse
from samhw.targets.building.hls_tools import WARNED, compile_cpp
from samhw.targets.running.csim import project_files
from samhw.targets.running.images import inputs_of
from tests.hls.vitis_in_software import BURSTS

XRT = Path(__file__).parent / "xrt_in_software" / "xrt"


A, X = "tensor A[i=8, k=8] : csr\n", "tensor X[k=8, j=4] : dense\n"

PROGRAMS = {
    "spmm": A + X + "T[i, j] = A[i, k] * X[k, j]\n",
    "square": A + "tensor T[i, j] : csr\nT[i, j] = A[i, k] * A[k, j]\n",
    "layer": A + X + "T[i, j] = A[i, k] * X[k, j]\nY[i, j] = relu(T[i, j])\n",
    "chain": A
    + "tensor T[i, j] : csr\nT[i, j] = A[i, k] * A[k, j]\ntensor x[j=8] : dense\ny[i] = T[i, j] * x[j]\n",
}


def host(folder: Path, program: str, value: str, options: Options | None = None) -> list[str]:
    """The command that runs a program's host on its test words, which it leaves in a folder."""
    workload = make_workload(parse(PROGRAMS[program], f"{program}.ein"))
    compiled = compile_workload(workload, Schedule(fuse="none"), value=value_type(value), arch=Arch.vitis())
    files = project_files(compiled, inputs_of(compiled, workload.tensors), options or Options(one_top=True))
    for path, text in files.items():
        if path.startswith(("tb_data/", "overlay.")):
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
    sources["all.cpp"] = f'#include "kernels.h"\n#define main host_main\n#include "{path}"\n#undef main\n'
    sources["all.cpp"] += called(json.loads(files["overlay.json"]) if "overlay.json" in files else {})
    (folder / "card.xclbin").touch()
    return [
        str(compile_cpp(sources, ["all.cpp"], WARNED)),
        str(folder / "card.xclbin"),
        "--data",
        str(folder / "tb_data"),
    ]


def called(overlay: dict[str, Any]) -> str:
    """A program that is the host or, with a folder instead, what a kernel of an overlay does when it is
    started: scalars, and the words of buffers, are files of the folder."""
    lines = ["int main(int argc, char **argv) {", '    if (argc != 3 || std::string(argv[1]) != "call")']
    lines += ["        return host_main(argc, argv);", "    const std::string to = argv[2];"]
    lines += ['    const std::vector<std::uint32_t> kernel = numbers(to + "/scalars");']
    for number, about in enumerate(overlay.get("kernels", ())):
        lines.append(f"    if (kernel[0] == {number}) {{")
        for name in about["pointers"]:
            lines.append(f'        std::ifstream in_{name}(to + "/{name}", std::ios::binary);')
            lines.append(
                f"        std::vector<char> {name}(std::istreambuf_iterator<char>(in_{name}), {{}});"
            )
        given = [f"kernel[{n}]" for n in range(1, 1 + len(about["scalars"]))]
        for name in about["pointers"]:
            word = "samhw::status_word" if name == "status" else "samhw::line_t"
            given.append(f"reinterpret_cast<{word} *>({name}.data())")
        lines.append(f"        space_{number}::{about['name']}({', '.join(given)});")
        lines += [
            f'        std::ofstream(to + "/{name}", std::ios::binary).write({name}.data(), {name}.size());'
            for name in about["pointers"]
        ]
        lines += ["        return 0;", "    }"]
    return "\n".join([*lines, "    return 3;", "}", ""])


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


class Buffer(np.ndarray):
    """A buffer of PYNQ: what is not flushed does not get to the memory, and what is not invalidated does not
    come from it."""

    memory: np.ndarray
    device_address: int

    def flush(self) -> None:
        self.memory[:] = self

    def invalidate(self) -> None:
        self[:] = self.memory


class Pynq(ModuleType):
    """The module `pynq`, with a board whose kernels are functions of a program.

    Attributes:
        wide: addresses have 64 bits.
    """

    def __init__(self, program: str, about: dict[str, Any], folder: Path, *, wide: bool):
        super().__init__("pynq")
        self.program, self.about, self.folder, self.wide = program, about, folder, wide
        self.buffers: dict[int, Buffer] = {}
        self.addresses = count((5 << 32 if wide else 0) + 4096, 4096)
        self.ran: list[str] = []
        self.stops = False

    def allocate(self, shape: tuple[int], dtype: str) -> Buffer:
        buffer = np.zeros(shape, dtype).view(Buffer)
        buffer.memory, buffer.device_address = np.zeros(shape, dtype), next(self.addresses)
        self.buffers[buffer.device_address] = buffer
        return buffer

    def Overlay(self, path: str) -> SimpleNamespace:
        assert path == "chain_kernel.bit"
        kernels = enumerate(self.about["kernels"])
        return SimpleNamespace(
            **{k["name"]: SimpleNamespace(register_map=Registers(self, n, k)) for n, k in kernels}
        )


class Registers:
    """The registers of a kernel, which are named as the `.hwh` of a bitstream names them."""

    def __init__(self, board: Pynq, number: int, about: dict[str, Any]):
        self.board, self.number, self.about = board, number, about
        ends = ("_1", "_2") if board.wide else ("",)
        self.written = dict.fromkeys(
            (*about["scalars"], *(n + e for n in about["pointers"] for e in ends)), 0
        )
        self.done = False

    def __getattr__(self, name: str) -> int:
        if name == "written" or name not in self.written:
            raise AttributeError(name)
        return self.written[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("board", "number", "about", "written", "done"):
            super().__setattr__(name, value)
        elif name == "AP_START":
            self.start()
        else:
            assert name in self.written
            assert 0 <= int(value) < 1 << 32
            self.written[name] = int(value)

    @property
    def CTRL(self) -> "Registers":
        return self

    @property
    def AP_DONE(self) -> bool:
        found, self.done = self.done, False  # Reading clears it.
        return found

    def start(self) -> None:
        folder = self.board.folder
        scalars = [self.number, *(self.written[name] for name in self.about["scalars"])]
        (folder / "scalars").write_text("".join(f"{n}\n" for n in scalars))
        given = {}
        for name in self.about["pointers"]:
            parts = (name + "_1", name + "_2") if self.board.wide else (name,)
            address = sum(self.written[part] << 32 * n for n, part in enumerate(parts))
            given[name] = self.board.buffers[address].memory
            given[name].tofile(folder / name)
        assert run([self.board.program, "call", str(folder)])[0] == 0
        for name, memory in given.items():
            memory[:] = np.fromfile(folder / name, memory.dtype)
        self.board.ran.append(self.about["name"])
        self.done = not self.board.stops


@pytest.mark.slow
def test_kernels_with_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels of a board copy what the host has stored, and of what a kernel leaves for the next one as
    much as it says: by XRT, and by PYNQ with addresses of 32 and of 64 bits."""
    command = host(tmp_path, "chain", "i32", Options(part="arty_z7"))
    code, text = run(command)
    assert (code, text.split(",")[0]) == (0, "chain_kernel: PASS")
    about = json.loads((tmp_path / "overlay.json").read_text())
    names = [kernel["name"] for kernel in about["kernels"]]
    assert names == ["chain_0_kernel", "chain_1_kernel"]
    (tmp_path / "kernel").mkdir()
    monkeypatch.chdir(tmp_path)
    for wide in (False, True):
        board = Pynq(command[0], about, tmp_path / "kernel", wide=wide)
        monkeypatch.setitem(sys.modules, "pynq", board)
        driver = SimpleNamespace(**runpy.run_path("overlay.py"))
        design, data = driver.Design("chain_kernel.bit", "overlay.json"), tmp_path / "tb_data"
        words = {
            name: driver.words_of(data / f"{name}.txt") for name in ("A_pos1", "A_crd1", "A_vals", "x_vals")
        }
        found = design.run(driver.words_of(data / "extents.txt"), words)
        golden = driver.words_of(data / "y_vals.txt")
        assert (found.keys(), found["y_vals"][: len(golden)].tolist()) == ({"y_vals"}, golden)
        assert board.ran == names
        # The last call's: A * A has as many words as pairs of coordinates, fewer than there is room for.
        stored = dict(
            zip(about["kernels"][1]["scalars"], driver.words_of(tmp_path / "kernel/scalars")[1:], strict=True)
        )
        rows = [words["A_crd1"][b:e] for b, e in pairwise(words["A_pos1"])]
        pairs = {(i, j) for i, row in enumerate(rows) for k in row for j in rows[k]}
        assert (
            stored["T_crd1_stored"]
            == stored["T_vals_stored"]
            == len(pairs)
            < about["buffers"]["T_crd1"]["words"]
        )
        with pytest.raises(
            RuntimeError, match=r"^range error at node scan_compressed_A_k of chain_0_kernel$"
        ):
            design.run(
                driver.words_of(data / "extents.txt"), {**words, "A_crd1": [999] * len(words["A_crd1"])}
            )
        with pytest.raises(ValueError, match=r"^x_vals has 99 words, and the kernel has room for 8$"):
            design.run(driver.words_of(data / "extents.txt"), {**words, "x_vals": [0] * 99})
        board.stops = True
        with pytest.raises(RuntimeError, match=r"^chain_0_kernel has not ended after 0 s$"):
            design.run(driver.words_of(data / "extents.txt"), words, seconds=0)


@pytest.mark.slow
def test_the_command_of_an_overlay(tmp_path: Path) -> None:
    """It compares with golden words, or writes results."""
    command = host(tmp_path, "chain", "i32", Options(part="arty_z7"))
    about = json.loads((tmp_path / "overlay.json").read_text())
    (tmp_path / "kernel").mkdir()
    board = Pynq(command[0], about, tmp_path / "kernel", wide=True)
    data = ["chain_kernel.bit", "--data", str(tmp_path / "tb_data")]

    def typed(*more: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "pynq", board)
            patch.setattr(sys, "argv", ["overlay.py", *data, *more])
            with pytest.raises(SystemExit) as left:
                runpy.run_path(str(tmp_path / "overlay.py"), run_name="__main__")
        return left.value.code

    assert typed() == 0
    golden = tmp_path / "tb_data" / "y_vals.txt"
    assert typed("--results", str(tmp_path)) == 0
    assert (tmp_path / "y_vals.txt").read_text() == golden.read_text()
    first, rest = golden.read_text().split("\n", 1)
    golden.write_text(f"{int(first) ^ 1}\n{rest}")
    assert typed() == 1


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
