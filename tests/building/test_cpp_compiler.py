"""Which C++ compiler is found, what it is told, and what the message says when there is none."""

import importlib.util
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from samhw.errors import InputError, RunError
from samhw.targets.building.cpp_compiler import CppCompiler, find_cpp_compiler
from tests.support.thorough import THOROUGH

GPP = "g++ (Debian 12.2.0-14) 12.2.0"
CLANG = "Debian clang version 14.0.6"

HELLO = """\
#include <iostream>
int main() { int zero = 0; std::cout << (1 << (zero + 31)) << "\\n"; }
"""


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("CXX", raising=False)
    find_cpp_compiler.cache_clear()
    yield
    find_cpp_compiler.cache_clear()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder with programs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `ziglang` that tells what it is called with."""
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").write_text("")
    _program(package / "zig", '[ "$1" = version ] && echo 0.17.1 || echo "$@ $ZIG_GLOBAL_CACHE_DIR"')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path / "cache"))
    return package


def _program(path: Path, line: str) -> Path:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def _says(folder: Path, name: str, version: str) -> Path:
    return _program(folder / name, f"echo '{version}'")


def test_the_one_of_the_system(programs: Path) -> None:
    _says(programs, "c++", CLANG)
    _says(programs, "g++", GPP)
    assert find_cpp_compiler() == CppCompiler(("g++",), GPP)


@pytest.mark.parametrize("name", ["c++", "clang++"])
def test_another_of_the_system(programs: Path, wheel: Path, name: str) -> None:
    _says(programs, name, CLANG)
    assert find_cpp_compiler().command == (name,)


def test_chosen(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _says(programs, "g++", GPP)
    _says(programs, "ccache", "g++-13 (Debian 13.2.0) 13.2.0")
    monkeypatch.setenv("CXX", "ccache g++-13")
    assert find_cpp_compiler() == CppCompiler(("ccache", "g++-13"), "g++-13 (Debian 13.2.0) 13.2.0")


def test_a_new_version_is_another_compiler(programs: Path) -> None:
    _says(programs, "g++", GPP)
    old = find_cpp_compiler()
    _says(programs, "g++", "g++ (Debian 14.2.0-19) 14.2.0")
    find_cpp_compiler.cache_clear()
    assert find_cpp_compiler().key != old.key


def test_warnings_of_clang_are_not_asked_for(programs: Path) -> None:
    _says(programs, "g++", CLANG)  # As on a Mac.
    assert "-w" in find_cpp_compiler().flags


def test_the_wheel(programs: Path, wheel: Path, caplog: pytest.LogCaptureFixture) -> None:
    compiler = find_cpp_compiler()
    assert compiler.command == (str(wheel / "zig"), "c++")
    assert compiler.name == "zig c++"
    assert not compiler.precompiles
    with caplog.at_level(logging.WARNING):
        first, second = compiler.run("-c", "a.cpp").stdout, compiler.run("-c", "b.cpp").stdout
    assert len(caplog.messages) == 1
    assert "zig c++ first compiles its C++ library, once, in a minute or two" in caplog.messages[0]
    assert first.startswith("c++ -mcpu=baseline -fno-sanitize=undefined ")
    assert first.split()[-1] == second.split()[-1] == str(wheel.parent / "cache" / "zig")


def test_the_wheel_fails(programs: Path, wheel: Path) -> None:
    _program(wheel / "zig", '[ "$1" = version ] && echo 0.17.1 || { echo "error: no space" >&2; exit 1; }')
    with pytest.raises(RunError, match=r"zig c\+\+ cannot compile its C\+\+ library: error: no space"):
        find_cpp_compiler().run("-c", "a.cpp")
    assert [p.suffix for p in (wheel.parent / "cache" / "zig-library").iterdir()] == [".lock"]


def test_zig_that_the_user_names(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _says(programs, "zig", "0.16.0")
    monkeypatch.setenv("CXX", "zig c++")
    compiler = find_cpp_compiler()
    assert (compiler.version, compiler.own_library, compiler.precompiles) == ("0.16.0", True, False)


def test_chosen_is_missing(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _says(programs, "g++", GPP)
    monkeypatch.setenv("CXX", "icpx -O3")
    with pytest.raises(InputError, match=r"The C\+\+ compiler icpx was not found; set CXX"):
        find_cpp_compiler()


@pytest.mark.parametrize("line", ["exit 1", "true"])
def test_chosen_is_no_compiler(programs: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    _program(programs / "cxx", line)
    monkeypatch.setenv("CXX", "cxx")
    with pytest.raises(InputError, match=r"'cxx --version' fails .*: that is no C\+\+ compiler; set CXX"):
        find_cpp_compiler()


def test_chosen_cannot_run(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (programs / "cxx").write_bytes(b"\x7fELF")
    (programs / "cxx").chmod(0o755)
    monkeypatch.setenv("CXX", "cxx")
    with pytest.raises(InputError, match=r"cxx does not run \(Exec format error\); set CXX"):
        find_cpp_compiler()


def test_odd_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "g++ 'x")
    with pytest.raises(InputError, match=r"CXX is .*, whose quotes"):
        find_cpp_compiler()


def test_none(programs: Path, no_wheel: None) -> None:
    with pytest.raises(
        InputError, match=r"No C\+\+ compiler .* apt-get install g\+\+ or pip install ziglang, or set CXX"
    ):
        find_cpp_compiler()


def _build_and_run(compiler: CppCompiler, folder: Path) -> str:
    (folder / "a.cpp").write_text(HELLO)
    for arguments in (["-O0", "-c", "a.cpp", "-o", "a.o"], ["a.o", "-o", "a"]):
        done = compiler.run(*arguments, folder=folder)
        assert (done.returncode, done.stderr) == (0, "")
    program = CppCompiler((str(folder / "a"),), "")
    return program.run().stdout


def test_the_one_here_compiles(tmp_path: Path) -> None:
    assert _build_and_run(find_cpp_compiler(), tmp_path) == f"{-(2**31)}\n"
    assert find_cpp_compiler().run("-E", "-x", "c++", "-", stdin="#include <no_such.h>").returncode


@pytest.mark.slow
@pytest.mark.skipif(not THOROUGH, reason="the wheel first compiles its library, for a minute or two")
def test_the_real_wheel_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shift into the sign is what its sanitizer would stop at."""
    package = importlib.util.find_spec("ziglang")
    assert package is not None
    assert package.origin is not None
    monkeypatch.setenv("CXX", f"{Path(package.origin).with_name('zig')} c++")
    assert _build_and_run(find_cpp_compiler(), tmp_path) == f"{-(2**31)}\n"
