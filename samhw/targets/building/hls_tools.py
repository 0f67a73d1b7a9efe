"""Programs of HLS projects for C simulation, and the ap_* headers that they include."""

import importlib.util
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from samhw.errors import InputError, RunError
from samhw.targets.building.build_cache import cached, digest
from samhw.targets.building.cpp_compiler import CppCompiler, find_cpp_compiler

__all__ = ["FLAGS", "OPTIMISED", "WARNED", "ap_headers", "compile_cpp"]

_log = logging.getLogger(__name__)

WARNED = ("-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas")
"""As the project's own Makefile."""

FLAGS = ("-std=c++17", "-w", "-fno-asynchronous-unwind-tables")
"""Without what no run needs, which takes a quarter of the compiler's time, and without the optimiser, which
takes longer than most simulations run."""

OPTIMISED = ("-O1",)
"""For long simulations."""

_COMMON = """\
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <queue>
#include <string>
#include <vector>

// No std::complex of ap_int: the headers declare that template themselves, which only libstdc++ forgives.
#define __AP_INT_SPECIAL_H__
#define __AP_FIXED_SPECIAL_H__
#include "ap_fixed.h"
#include "ap_int.h"
#include "hls_stream.h"
"""
"""What every project includes and no project changes: most of what the compiler reads."""


def ap_headers() -> Path:
    """The folder with `ap_int.h`, `ap_fixed.h` and `hls_stream.h`: that of Vitis if `$XILINX_HLS` or
    `$XILINX_VITIS` is set, else that of the Python package hls4ml. Raises `InputError` if there is none."""
    for variable in ("XILINX_HLS", "XILINX_VITIS"):
        if home := os.environ.get(variable):
            return _folder(Path(home) / "include", f"set {variable} to the folder of an installed Vitis")
    if (package := importlib.util.find_spec("hls4ml")) and package.submodule_search_locations:
        home = package.submodule_search_locations[0]
        return _folder(Path(home) / "templates/vivado/ap_types", "install another version of hls4ml")
    raise InputError(
        "The ap_int.h for C simulation was not found; install it with pip install --no-deps hls4ml, or set "
        "XILINX_HLS to the folder of an installed Vitis."
    )


def _folder(folder: Path, hint: str) -> Path:
    if not (folder / "ap_int.h").is_file():
        raise InputError(f"{folder} has no ap_int.h; {hint}.")
    return folder


def compile_cpp(sources: Mapping[str, str], units: Sequence[str], flags: Sequence[str] = FLAGS) -> Path:
    """The program of some C++ texts, through the build cache.

    Args:
        sources: texts by path. Headers are found beside the text that includes them and in `src`.
        units: the paths to compile.

    Raises:
        InputError: if the compiler or the headers are missing.
        RunError: if the compiler does not take the text, or warns.
    """
    compiler, headers = find_cpp_compiler(), ap_headers()
    options = [*flags, "-isystem", str(headers)]
    key = digest(compiler.key, *options, *units, *(part for item in sorted(sources.items()) for part in item))

    def make(folder: Path) -> None:
        _log.info("building the HLS C simulation with %s, once for each design", compiler.name)
        common = _common(compiler, options)
        work = folder / "work"
        for path, text in sources.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text, encoding="utf-8")
        # In two steps: a compiler that builds its own library would build another one for these options. But
        # a sanitizer has a library of its own.
        sanitizers = [flag for flag in flags if flag.startswith("-fsanitize=")]
        objects = [f"{unit}.o" for unit in units]
        for unit, target in zip(units, objects, strict=True):
            _run(compiler, work, *options, "-include", str(common), "-Isrc", "-c", unit, "-o", target)
        _run(compiler, work, *sanitizers, *objects, "-o", str(folder / "simulate"))
        shutil.rmtree(work)

    return cached("hls", key, make) / "simulate"


def _common(compiler: CppCompiler, options: Sequence[str]) -> Path:
    """The common header, if possible with its compiled form beside it, which the compiler takes instead."""

    def make(folder: Path) -> None:
        header = folder / "common.hpp"
        header.write_text(_COMMON, encoding="utf-8")
        if compiler.precompiles:
            _run(compiler, folder, *options, "-x", "c++-header", str(header), "-o", f"{header}.gch")

    return cached("hls-headers", digest(compiler.key, *options, _COMMON), make) / "common.hpp"


def _run(compiler: CppCompiler, folder: Path, *arguments: str) -> None:
    done = compiler.run(*arguments, folder=folder)
    telling = [line for line in done.stderr.splitlines() if "error:" in line or "warning:" in line]
    if done.returncode or telling:
        first = (telling or done.stderr.splitlines() or ["no message"])[0]
        raise RunError(f"The emitted C++ does not compile cleanly: {first}; please report this as a bug.")
