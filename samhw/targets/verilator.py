"""Builds a program from Verilog with Verilator and the C++ compiler, through the build cache.

Verilator's own makefile is not used: what does not depend on the design (Verilator's run-time library and the
harness) is compiled once, and what does is compiled in two units, since reading the headers costs more than
compiling a small design. The code that runs once (`Slow`) is not optimised at all.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from samhw.errors import InputError, RunError
from samhw.targets.cache import cached, digest
from samhw.targets.tools import Verilator, find_verilator

__all__ = ["TEMPLATES", "Program", "Wave", "build_program"]

TEMPLATES = Path(__file__).parent / "templates"
"""The C++ sources of the harness."""

Wave = Literal["fst", "vcd"]
"""The format of a recording of every signal. FST is far smaller, but needs the headers of two libraries."""

# Lint is for people who write Verilog; what stays an error is, for one, a combinational loop.
_VERILATE = (
    *("--cc", "--make", "json", "--prefix", "Vtop", "--x-assign", "fast", "--x-initial", "fast"),
    *("--noassert", "--no-timing", "--quiet-stats", "-O3", "-Wno-lint"),
)
_COMPILE = ("-std=c++17", "-pipe", "-w")
_FAST, _SLOW = "-O1", "-O0"

_TELLING = re.compile(r"^%(Error|Warning)|\berror:|undefined reference")
"""The line of a tool's output that tells what is wrong."""


@dataclass(frozen=True)
class Program:
    """A built program. `seconds` is what the build took when it was made; `reused` that this was earlier."""

    path: Path
    seconds: float
    reused: bool


def build_program(
    verilog: str,
    glue: str,
    *,
    harness: Path | None = TEMPLATES / "harness.cpp",
    top: str = "samhw_top",
    wave: Wave | None = None,
) -> Program:
    """The program that joins a design with a harness.

    Args:
        verilog: the text of the design.
        glue: C++ that includes `Vtop.h` and the harness's headers, which lie beside it.
        harness: C++ with `main`, the same for every design; None if the glue has `main`.
        top: name of the top module.
        wave: record waves in that format on demand.

    Raises `InputError` where a tool or a library is missing, and `RunError` where the design does not build.
    """
    verilator = find_verilator()
    sources = [harness, *sorted(harness.parent.glob("*.h"))] if harness else []
    common = (str(verilator.root), verilator.version, verilator.compiler, *_COMPILE, _FAST, _SLOW, wave or "")
    runtime_key = digest(*common, *(source.read_bytes() for source in sources))
    key = digest(runtime_key, *_VERILATE, top, verilog, glue)
    begin = time.perf_counter()
    made = False

    def make(folder: Path) -> None:
        nonlocal made
        made = True
        runtime = cached("runtime", runtime_key, partial(_build_runtime, verilator, harness, wave))
        _build_design(folder, verilator, runtime, verilog, glue, top, wave)
        (folder / "build.json").write_text(json.dumps({"seconds": time.perf_counter() - begin}))

    folder = cached("verilated", key, make)
    seconds = json.loads((folder / "build.json").read_text())["seconds"]
    return Program(folder / "simulate", seconds, not made)


def _build_runtime(verilator: Verilator, harness: Path | None, wave: Wave | None, folder: Path) -> None:
    """Compiles into `folder` what no design changes."""
    names = ["verilated", "verilated_threads", *([f"verilated_{wave}_c"] if wave else [])]
    sources = [*(verilator.root / "include" / f"{name}.cpp" for name in names), *([harness] if harness else [])]
    flags = (*_flags(verilator, wave), f"-I{TEMPLATES}", "-O2")
    if wave == "fst":
        _check_fst(verilator)
    _compile(verilator, [(source, folder / f"{source.stem}.o", flags) for source in sources])


def _build_design(
    folder: Path,
    verilator: Verilator,
    runtime: Path,
    verilog: str,
    glue: str,
    top: str,
    wave: Wave | None,
) -> None:
    work = folder / "work"
    work.mkdir()
    source = work / f"{top}.v"
    source.write_text(verilog)
    options = [*_VERILATE, *([f"--trace-{wave}"] if wave else []), "--top-module", top, "-Mdir", str(work)]
    _run([verilator.program, *options, source], verilator, "Verilator does not accept the generated Verilog")

    sources = json.loads((work / "Vtop.json").read_text())["sources"]
    glue_source = work / "glue.cpp"
    glue_source.write_text(glue)
    fast = [*sources["classes_fast"], *sources.get("support_fast", []), str(glue_source)]
    slow = [*sources["classes_slow"], *sources.get("support_slow", [])]
    flags = (*_flags(verilator, wave), f"-I{work}", f"-I{TEMPLATES}")
    units: list[tuple[Path, Path, Sequence[str]]] = []
    for name, parts, optimise in [("fast", fast, _FAST), ("slow", slow, _SLOW)]:
        unit = work / f"{name}.cpp"
        unit.write_text("".join(f'#include "{part}"\n' for part in parts))
        units.append((unit, unit.with_suffix(".o"), (*flags, optimise)))
    _compile(verilator, units)

    objects = [*(object for _, object, _ in units), *sorted(runtime.glob("*.o"))]
    libraries = ["-pthread", *(["-llz4", "-lz"] if wave == "fst" else [])]
    link: list[str | Path] = [verilator.compiler, *objects, "-o", folder / "simulate", *libraries]
    _run(link, verilator, "the verilated design does not link")
    shutil.rmtree(work)


def _flags(verilator: Verilator, wave: Wave | None) -> tuple[str, ...]:
    include = verilator.root / "include"
    traces = {"VM_TRACE": bool(wave), "VM_TRACE_FST": wave == "fst", "VM_TRACE_VCD": wave == "vcd"}
    defines = {**traces, "VERILATOR": 1, "VM_COVERAGE": 0, "VM_SC": 0, "VM_TIMING": 0, "VM_TRACE_SAIF": 0}
    return (
        *_COMPILE,
        *(f"-D{name}={int(value)}" for name, value in defines.items()),
        f"-I{include}",
        f"-I{include / 'vltstd'}",
    )


def _compile(verilator: Verilator, units: Iterable[tuple[Path, Path, Sequence[str]]]) -> None:
    def compile_unit(unit: tuple[Path, Path, Sequence[str]]) -> None:
        source, target, flags = unit
        command: list[str | Path] = [verilator.compiler, *flags, "-c", source, "-o", target]
        _run(command, verilator, "the verilated design does not compile")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_unit, units))


def _check_fst(verilator: Verilator) -> None:
    command = [verilator.compiler, "-E", "-x", "c++", "-"]
    probe = subprocess.run(command, input=b"#include <lz4.h>\n#include <zlib.h>\n", capture_output=True)
    if probe.returncode:
        raise InputError(
            "FST waves need the headers of lz4 and zlib; install them with "
            "apt-get install liblz4-dev zlib1g-dev, or record VCD."
        )


def _run(command: Sequence[str | Path], verilator: Verilator, what: str) -> None:
    done = subprocess.run(command, env=verilator.environment(), capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        telling = [line.strip() for line in lines if _TELLING.search(line)]
        raise RunError(f"{what}: {(telling or lines or ['no message'])[0]}")
