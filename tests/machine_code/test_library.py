"""The cache of machine code: found again, never half-written, never in the way."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samhw.sim.machine_code import code_cache
from samhw.sim.machine_code.fingerprint import fingerprint
from tests.support.compiled import compiled

Function = Callable[[int, int], int]


def adding(number: int) -> Function:
    def add(a: int, b: int) -> int:
        return a + b + number

    return add


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path))
    forget(monkeypatch)
    return tmp_path / code_cache.FOLDER


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(code_cache, "_known", {})


def not_made(*arguments: object) -> bytes:
    raise AssertionError("the code is there")


def test_is_found_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled(adding(1))(2, 3) == 6
    assert len(list(cache.iterdir())) == 1
    forget(monkeypatch)
    monkeypatch.setattr(code_cache, "assemble", not_made)
    assert compiled(adding(1))(2, 3) == 6


def test_another_process_finds_it(cache: Path) -> None:
    program = "from tests.machine_code.test_library import *; print(compiled(adding(1))(2, 3))"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "6\n"
    assert len(list(cache.iterdir())) == 1


def test_other_code_has_another_name() -> None:
    def closing_over(value: object) -> Function:
        def function(a: int, b: int) -> int:
            return value  # type: ignore[return-value]

        return function

    functions = [adding(1), adding(2), closing_over(1), closing_over((1, 2)), closing_over(adding(3))]
    functions += [closing_over(adding(4)), closing_over(1.5)]
    names = [fingerprint(function, {}) for function in functions]
    assert len(set(names)) == len(names)
    assert fingerprint(adding(1), {}) == names[0]


@pytest.mark.parametrize(
    "spoil", [lambda code: code[:-9], lambda code: b"", lambda code: code[:50] + b"\0" * 50]
)
def test_a_file_that_is_not_whole_is_made_again(
    spoil: Callable[[bytes], bytes], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(adding(1))
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    forget(monkeypatch)
    assert compiled(adding(1))(2, 3) == 6
    assert file.read_bytes() == whole


def test_a_process_that_is_killed_leaves_nothing_that_hurts(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the bytes of its file and the file's name."""
    program = (
        "import os, signal; from tests.machine_code.test_library import *\n"
        "os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)\n"
        "compiled(adding(1))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = cache.iterdir()
    assert left.suffix == ".tmp"
    assert compiled(adding(1))(2, 3) == 6
    os.utime(left, (0, 0))
    program = "from tests.machine_code.test_library import *; compiled(adding(2))"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert not left.exists()


def test_processes_share_a_cache(cache: Path) -> None:
    program = (
        "from tests.machine_code.test_library import *\n"
        "assert [compiled(adding(n))(0, 0) for n in range(20)] == list(range(20))"
    )
    both = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(list(cache.iterdir())) == 20


def test_a_cache_that_cannot_be_written_is_not_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path / "file"))
    forget(monkeypatch)
    assert compiled(adding(1))(2, 3) == 6


def test_what_nobody_uses_is_removed(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "KEEP", 1)
    cache.mkdir()
    for name, age in (("a", 40), ("b", 40), ("c", 20), ("d", 0)):
        file = cache / f"{name}.o"
        file.touch()
        then = file.stat().st_mtime - age * 86400
        os.utime(file, (then, then))
    compiled(adding(1))
    assert {path.stem for path in cache.iterdir()} >= {"c", "d"}
    assert not (cache / "a.o").exists()
    assert not (cache / "b.o").exists()
