"""The build cache: one make for each key, whatever happens at the same time and whatever goes wrong."""

import errno
import fcntl
import multiprocessing
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from samhw.errors import InputError
from samhw.files import cache_directory
from samhw.targets.building.build_cache import cached, digest


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


def _damages(entry: Path) -> dict[str, Callable[[], object]]:
    """What may happen to an entry."""
    program = entry / "program"

    def emptied() -> None:
        shutil.rmtree(entry)
        entry.mkdir()

    return {
        "truncated": lambda: program.write_bytes(program.read_bytes()[:-1]),
        "flipped": lambda: program.write_bytes(b"N" + program.read_bytes()[1:]),
        "not executable": lambda: program.chmod(0o644),
        "gone": program.unlink,
        "more": lambda: (entry / "other").touch(),
        "seal gone": (entry / "sealed").unlink,
        "seal damaged": lambda: (entry / "sealed").write_bytes(b"\xff"),
        "empty": emptied,
    }


def _program(folder: Path) -> None:
    (folder / "program").write_text("made")
    (folder / "program").chmod(0o755)


@pytest.mark.parametrize(
    "damage",
    ["truncated", "flipped", "not executable", "gone", "more", "seal gone", "seal damaged", "empty"],
)
def test_a_damaged_entry_is_made_again(damage: str) -> None:
    entry = cached("kind", "key", _program)
    before = sorted(path.name for path in entry.iterdir())
    _damages(entry)[damage]()
    assert cached("kind", "key", _program) == entry
    assert sorted(path.name for path in entry.iterdir()) == before
    assert (entry / "program").read_text() == "made"
    assert os.access(entry / "program", os.X_OK)
    cached("kind", "key", _refuse)


def test_what_a_killed_process_was_making_goes(cache: Path) -> None:
    """But not what another one is making at the time."""
    begun = cache / "begun"

    def forever(folder: Path) -> None:
        (folder / "half").touch()
        begun.touch()
        time.sleep(600)

    process = multiprocessing.get_context("fork").Process(target=cached, args=("kind", "killed", forever))
    cached("kind", "first", _write)
    process.start()
    while not begun.exists():
        time.sleep(0.01)
    home = cache / "kind"
    (unfinished,) = (path for path in home.iterdir() if path.name.startswith("killed.") and path.is_dir())
    cached("kind", "second", _write)
    assert (unfinished / "half").exists()
    process.kill()
    process.join()
    cached("kind", "third", _write)
    assert sorted(path.name for path in home.iterdir() if path.is_dir()) == ["first", "second", "third"]
    assert not (home / "killed.lock").exists()


def test_a_lock_that_was_removed_is_none() -> None:
    """Whoever has waited for a lock that its holder removed takes the one that is there now."""
    entry = cached("kind", "key", _write)
    lock = entry.with_name("key.lock")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        shutil.rmtree(entry)
        made: list[Path] = []
        waiting = threading.Thread(target=lambda: made.append(cached("kind", "key", _write)))
        waiting.start()
        time.sleep(0.2)  # Until it waits.
        lock.unlink()
        with lock.open("w") as new:
            fcntl.flock(new, fcntl.LOCK_EX)
            fcntl.flock(held, fcntl.LOCK_UN)
            waiting.join(0.2)
            assert not made
        waiting.join()
    assert made == [entry]


def test_a_full_disk_is_a_sentence(cache: Path) -> None:
    def full(folder: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\); set SAMHW_CACHE"):
        cached("kind", "key", full)
    assert [path for path in cache.rglob("*") if path.suffix != ".lock"] == [cache / "kind"]
