"""The host program, with XRT's calls in software (`xrt_in_software`) and the kernel as a function."""

import subprocess
from pathlib import Path

import pytest

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.hls import Options
from samhw.lang import parse
from samhw.targets.building.hls_tools import FLAGS, compile_cpp
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
    (top,) = (Path(path).name.removesuffix("_host.cpp") for path in files if path.startswith("host/"))
    sources = {path: text for path, text in files.items() if path.endswith((".cpp", ".hpp"))}
    sources |= {f"src/xrt/{path.name}": path.read_text() for path in XRT.iterdir()}
    sources |= BURSTS
    units = [f"host/{top}_host.cpp", *(p for p in files if p.startswith("src/") and p.endswith(".cpp"))]
    sources["all.cpp"] = "".join(f'#include "{path}"\n' for path in units)
    flags = (*FLAGS, f"-DTOP={top}", f'-DHEADER="{top}.hpp"')
    (folder / "card.xclbin").touch()
    return [
        str(compile_cpp(sources, ["all.cpp"], flags)),
        str(folder / "card.xclbin"),
        str(folder / "tb_data"),
    ]


def run(command: list[str]) -> tuple[int, str]:
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return found.returncode, found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "value", "on_chip"), [("square", "bf16", False), ("layer", "f8e4m3", True)]
)
def test_a_host(tmp_path: Path, program: str, value: str, on_chip: bool) -> None:
    """Words of 16 and 8 bits, one region whose memories have several readers, and several regions."""
    command = host(tmp_path, program, value, Options(one_top=True, on_chip_bytes=None if on_chip else 0))
    code, text = run(command)
    assert (code, text.split(",")[0]) == (0, f"{program}_kernel: PASS")


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
    assert run(command[:1]) == (2, "usage: spmm_kernel_host XCLBIN [DATA [DEVICE]]\n")
