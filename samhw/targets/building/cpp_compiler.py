"""The C++ compiler of this machine: where it is, and what it has to be told."""

import importlib.util
import logging
import os
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess

from samhw.errors import InputError, RunError
from samhw.files import cache_directory
from samhw.processes import run
from samhw.targets.building.build_cache import cached, digest

__all__ = ["CppCompiler", "find_cpp_compiler"]

_log = logging.getLogger(__name__)

_NAMES = ("g++", "c++", "clang++")

_ZIG_FLAGS = ("-mcpu=baseline", "-fno-sanitize=undefined", "-g0", "-s")
"""A cache that lies on a cluster's common disk serves processors of all ages; and by itself zig adds a
sanitizer at `-O0`, and to each program 10 MB of symbols."""

_CLANG_FLAGS = ("-w",)
"""Its warnings are others than those of g++, of which the emitted C++ is free."""


@dataclass(frozen=True)
class CppCompiler:
    """A C++ compiler, as the commands of both builders see it: `run` it.

    Args:
        command: the words that call it.
        version: what it says of itself.
        flags: what every call has before its arguments.
        precompiles: whether units can take a header in compiled form.
        own_library: whether it comes with the source of its C++ library, which it has to compile once.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...] = ()
    precompiles: bool = True
    own_library: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return " ".join([Path(self.command[0]).name, *self.command[1:]])

    @property
    def key(self) -> str:
        """What everything depends on that it compiles."""
        return digest(*self.command, self.version, *self.flags)

    def run(
        self, *arguments: str | Path, folder: Path | None = None, stdin: str = ""
    ) -> CompletedProcess[str]:
        """Calls it, in `folder` if given; the answer has its output and return code."""
        if self.own_library:
            self._make_library()
        return self._call(*arguments, folder=folder, stdin=stdin)

    def _make_library(self) -> None:
        """Has the C++ library compiled, unless that was done before."""

        def make(new: Path) -> None:
            # A warning, since that is shown by every process and to users of every interface.
            _log.warning("%s first compiles its C++ library, once, in a minute or two", self.name)
            # As a program is linked from units: other options would need other variants of the library.
            with tempfile.TemporaryDirectory() as work:
                (Path(work) / "a.cpp").write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
                for step in (["-c", "a.cpp", "-o", "a.o"], ["a.o", "-o", "a", "-pthread"]):
                    done = self._call(*step, folder=Path(work))
                    if done.returncode:
                        raise RunError(f"{self.name} cannot compile its C++ library: {_last(done.stderr)}")

        cached("zig-library", self.key, make)

    def _call(
        self, *arguments: str | Path, folder: Path | None = None, stdin: str = ""
    ) -> CompletedProcess[str]:
        command = [*self.command, *self.flags, *arguments]
        # Zig keeps a second copy of everything that it compiles.
        with tempfile.TemporaryDirectory() as units:
            library = cache_directory() / "zig"
            variables = {"ZIG_GLOBAL_CACHE_DIR": str(library), "ZIG_LOCAL_CACHE_DIR": units}
            environment = {**os.environ, **(variables if self.own_library else {})}
            return run(
                command,
                env=environment,
                cwd=folder,
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
            )


@cache
def find_cpp_compiler() -> CppCompiler:
    """The compiler of `$CXX`, else one of the system, else that of the Python package `ziglang`.

    Raises `InputError` that says what to install where there is none.
    """
    if words := _chosen():
        return _compiler(*words)
    for name in _NAMES:
        if shutil.which(name):
            return _compiler(name)
    if (package := importlib.util.find_spec("ziglang")) and package.origin is not None:
        return _compiler(str(Path(package.origin).with_name("zig")), "c++")
    raise InputError(
        "No C++ compiler was found; install one with apt-get install g++ or pip install ziglang, or set CXX."
    )


def _chosen() -> list[str]:
    """The words of `$CXX`."""
    chosen = os.environ.get("CXX", "")
    try:
        words = shlex.split(chosen)
    except ValueError:
        raise InputError(f"CXX is {chosen}, whose quotes do not match; set it to a C++ compiler.") from None
    if words and shutil.which(words[0]) is None:
        raise InputError(
            f"The C++ compiler {words[0]} was not found; set CXX to one that is there, or unset it."
        )
    return words


def _compiler(*command: str) -> CppCompiler:
    if any(Path(word).name in ("zig", "ziglang") for word in command):
        version = _answer(*command[:-1], "version")
        return CppCompiler(command, version, _ZIG_FLAGS + _CLANG_FLAGS, precompiles=False, own_library=True)
    version = _answer(*command, "--version")
    return CppCompiler(command, version, _CLANG_FLAGS if "clang" in version else ())


def _answer(*command: str) -> str:
    """The first line that a command prints."""
    try:
        done = run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise InputError(f"The C++ compiler {command[0]} does not run ({error.strerror}); set CXX.") from None
    if done.returncode or not done.stdout:
        raise InputError(
            f"'{shlex.join(command)}' fails ({_last(done.stderr)}): that is no C++ compiler; set CXX to one."
        )
    return str(done.stdout).splitlines()[0]


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
