"""`samhw build`: writes everything that a target needs into a directory, all of it or nothing."""

import json
import shutil
import tempfile
from pathlib import Path

from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import AddressMap, dumps, to_dot

__all__ = ["build"]


def build(compiled: Compiled, target: str, directory: Path) -> list[Path]:
    """Writes a build and returns its files.

    * `sim`: the graph (`graph.json`, `graph.dot`) and the numbers (`arch.json`).
    * `verilator`: those, the RTL (`<name>.v`), the address map (JSON and C header), and the runnable model
    (`sim`).

    Raises:
        InputError: if the directory is there and not empty, or cannot be written.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError(f"{directory} is there and not empty; choose another directory or remove it.")
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    except OSError as error:
        raise InputError(f"Cannot write {directory} ({error.strerror}); choose another directory.") from None
    try:
        _write(compiled, target, staging)
        staging.chmod(0o755)
        if directory.exists():
            directory.rmdir()
        staging.rename(directory)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    return sorted(p for p in directory.rglob("*") if p.is_file())


def _write(compiled: Compiled, target: str, directory: Path) -> None:
    graph, arch = compiled.graph, compiled.arch
    (directory / "graph.json").write_text(dumps(graph), encoding="utf-8")
    (directory / "graph.dot").write_text(to_dot(graph), encoding="utf-8")
    (directory / "arch.json").write_text(arch.dumps(), encoding="utf-8")
    if target == "sim":
        return
    from samhw.rtl import verilog
    from samhw.targets.driver import VerilatedDesign

    addresses = AddressMap(graph, arch)
    (directory / "samhw_top.v").write_text(verilog(graph, arch), encoding="utf-8")
    (directory / "address_map.json").write_text(
        json.dumps(addresses.to_json(), indent=2) + "\n", encoding="utf-8"
    )
    (directory / "address_map.h").write_text(addresses.c_header("samhw_top"), encoding="utf-8")
    VerilatedDesign.build(graph, arch, optimise=True).copy_to(directory)
