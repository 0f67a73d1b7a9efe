"""The build cache: one make for each key, whatever happens at the same time and whatever goes wrong."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from samhw.cache import cache_directory
from samhw.errors import InputError
from samhw.targets.cache import cached, digest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _write(folder: Path) -> None:
    (folder / "content").write_text("made")


def _refuse(folder: Path) -> None:
    raise AssertionError(f"{folder} is made again")


def _slowly(log: Path, folder: Path) -> None:
    with log.open("a") as file:
        file.write("made\n")
    time.sleep(0.2)
    _write(folder)


def _in_process(log: Path) -> None:
    entry = cached("kind", "key", lambda folder: _slowly(log, folder))
    assert (entry / "content").read_text() == "made"


def test_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_directory() == tmp_path / "cache"
    monkeypatch.delenv("SAMHW_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_directory() == Path("/somewhere/samhw")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_directory() == Path.home() / ".cache" / "samhw"


def test_digest_separates_its_parts() -> None:
    assert digest("a", "bc") != digest("ab", "c")
    assert digest("a", "bc") == digest(b"a", b"bc")


def test_made_once() -> None:
    entry = cached("kind", "key", _write)
    assert (entry / "content").read_text() == "made"
    assert cached("kind", "key", _refuse) == entry
    assert cached("kind", "other", _write) != entry


def test_failure_leaves_nothing(cache: Path) -> None:
    def fail(folder: Path) -> None:
        _write(folder)
        raise ValueError("half-way")

    with pytest.raises(ValueError, match="half-way"):
        cached("kind", "key", fail)
    assert [path for path in cache.rglob("*") if path.suffix != ".lock"] == [cache / "kind"]
    cached("kind", "key", _write)


def test_processes_share_one_make(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_in_process, args=(log,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert log.read_text() == "made\n"


def test_old_entries_go() -> None:
    old, used = cached("kind", "old", _write), cached("kind", "used", _write)
    for entry in (old, used):
        os.utime(entry, (0, 0))
    cached("kind", "used", _refuse)  # Counts as a use.
    cached("kind", "new", _write)
    assert not old.exists()
    assert used.exists()


def test_unwritable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SAMHW_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set SAMHW_CACHE"):
        cached("kind", "key", _write)
