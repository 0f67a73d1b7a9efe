"""`samhw build`: writes everything that a target needs into a directory, all of it or nothing."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.files import reason
from samhw.graph import AddressMap, MemoryRole, dumps, to_dot
from samhw.hls import Options
from samhw.targets.inputs import load_inputs
from samhw.tensors import Tensor

__all__ = ["build"]


def build(
    compiled: Compiled,
    target: str,
    directory: Path,
    tensors: Mapping[str, Tensor] | None = None,
    hls: Options | None = None,
) -> list[Path]:
    """Writes a build and returns its files.

    * `sim`: the design (`graph.json`, `graph.dot`) and the numbers (`arch.json`).
    * `verilator`: those, the RTL (`samhw_top.v`), the address map (JSON and C header), and the program that
      runs it (`simulate`).

    With tensors, `verilator` also gets their arrays as binary files (`data/`) and the commands that load
    them, run and read the results back: `cd DIRECTORY && ./simulate < run.txt`.
    * `vitis-hls`: a Vitis HLS project for each region (docs/hls.md), with the data and golden results if
      there are tensors; `hls` has its options.

    Raises:
        InputError: if the directory is there and not empty, or cannot be written.
    """
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise InputError(f"{directory} is there and not empty; choose another directory or remove it.")
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".samhw-", dir=directory.parent))
    except (OSError, ValueError) as error:
        raise _unwritable(directory, error) from None
    try:
        if target == "vitis-hls":
            _write_hls(compiled, tensors, hls, staging)
        else:
            _write(compiled, target, staging)
        if target == "verilator" and tensors is not None:
            _write_data(compiled, tensors, staging)
        staging.chmod(0o755)
        if directory.exists():
            directory.rmdir()
        staging.rename(directory)
    except OSError as error:
        raise _unwritable(directory, error) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return sorted(p for p in directory.rglob("*") if p.is_file())


def _unwritable(directory: Path, error: OSError | ValueError) -> InputError:
    return InputError(f"Cannot write {directory} ({reason(error)}); choose another directory.")


def _write(compiled: Compiled, target: str, directory: Path) -> None:
    design, arch = compiled.design, compiled.arch
    (directory / "graph.json").write_text(dumps(design), encoding="utf-8")
    (directory / "graph.dot").write_text(to_dot(design), encoding="utf-8")
    (directory / "arch.json").write_text(arch.dumps(), encoding="utf-8")
    if target == "sim":
        return
    from samhw.rtl import verilog
    from samhw.targets.driver import VerilatedDesign

    addresses = AddressMap(design, arch)
    (directory / "samhw_top.v").write_text(verilog(design, arch), encoding="utf-8")
    (directory / "address_map.json").write_text(
        json.dumps(addresses.to_json(), indent=2) + "\n", encoding="utf-8"
    )
    (directory / "address_map.h").write_text(addresses.c_header("samhw_top"), encoding="utf-8")
    VerilatedDesign.build(design, arch, optimise=True).copy_to(directory)


def _write_hls(
    compiled: Compiled, tensors: Mapping[str, Tensor] | None, options: Options | None, directory: Path
) -> None:
    from samhw.targets.hls import project_files

    for name, text in project_files(compiled, tensors, options).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _write_data(compiled: Compiled, tensors: Mapping[str, Tensor], directory: Path) -> None:
    """The words of the input memories, and the commands of a run (templates/harness.cpp lists them)."""
    design = compiled.design
    addresses = AddressMap(design, compiled.arch)
    memories, extents = load_inputs(compiled.program, design, tensors)
    (directory / "data").mkdir()
    (directory / "results").mkdir()
    commands = []
    for index, extent in extents.items():
        np.array([extent], dtype="<u4").tofile(directory / "data" / f"extent_{index}.bin")
        commands.append(f"load-file {addresses.extents[index]} data/extent_{index}.bin")
    for name, words in memories.items():
        words.astype("<u4").tofile(directory / "data" / f"{name}.bin")
        commands.append(f"load-file {addresses.windows[name].base} data/{name}.bin")
    commands += ["start", "wait 100000000"]
    for memory in design.memories:
        if memory.role is MemoryRole.OUTPUT:
            base = addresses.windows[memory.name].base
            commands.append(f"read-file {base} {memory.capacity} results/{memory.name}.bin")
    (directory / "run.txt").write_text("\n".join(commands) + "\n", encoding="utf-8")
