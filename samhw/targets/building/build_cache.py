"""The build cache: folders named by the hash of all that went into them, made once for every process; and
from it programs that simulate a design's RTL."""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from samhw.errors import InputError
from samhw.files import cache_directory, reason

__all__ = ["BuiltProgram", "built", "cached", "digest"]

_KEEP_DAYS = 30
"""An entry that nobody used for so long is removed."""

_SEAL = "sealed"
"""The file of an entry that says what else is in it."""


def digest(*parts: str | bytes) -> str:
    """A name for the parts: equal only for equal parts."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "little"))
        whole.update(data)
    return whole.hexdigest()[:32]


def cached(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """The folder `kind/key` of the cache; if it is not there, or damaged, `make` fills it.

    `make` gets an empty folder, which becomes the entry when it returns and vanishes when it raises. Another
    process that wants the same entry waits for it. Raises `InputError` when the cache cannot be written.
    """
    home = cache_directory() / kind
    entry = home / key
    if _is_whole(entry):
        with suppress(OSError):  # A cache that is only readable serves too.
            os.utime(entry)
        return entry
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _lock(home / f"{key}.lock"):
            if not _is_whole(entry):
                _fill(entry, make)
                _prune(home)
    except OSError as error:
        raise InputError(
            f"The build cache {home} cannot be written ({reason(error)}); set SAMHW_CACHE to a folder that "
            "can."
        ) from error
    return entry


def _fill(entry: Path, make: Callable[[Path], None]) -> None:
    work = Path(tempfile.mkdtemp(prefix=f"{entry.name}.", dir=entry.parent))
    try:
        make(work)
        (work / _SEAL).write_text(_contents(work))
        if entry.is_dir():
            shutil.rmtree(entry)
        work.rename(entry)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _is_whole(entry: Path) -> bool:
    """Whether an entry is there, as it was made: a crash, a full disk or a cleaner may have taken a part."""
    try:
        return (entry / _SEAL).read_text() == _contents(entry)
    except (OSError, ValueError):
        return False


def _contents(folder: Path) -> str:
    """A hash of all files of a folder, and of which of them are programs."""
    parts: list[str | bytes] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / _SEAL:
            parts += [str(path.relative_to(folder)), str(os.access(path, os.X_OK)), path.read_bytes()]
    return digest(*parts)


@contextmanager
def _lock(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds a lock. Raises `BlockingIOError` if it is held and `wait` is not set."""
    while True:
        with path.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if _is_file(file, path):
                yield
                return


def _is_file(file: IO[str], path: Path) -> bool:
    """Whether an open file is the one of that name still: its last holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _prune(home: Path) -> None:
    """Removes old entries, and what a process was making when it was killed: the lock of that is free."""
    oldest = time.time() - _KEEP_DAYS * 86400
    for path in home.iterdir():
        key, unfinished, _ = path.name.partition(".")
        with suppress(OSError):
            if path.is_dir() and (unfinished or path.stat().st_mtime < oldest):
                lock = home / f"{key}.lock"
                with _lock(lock, wait=False):
                    shutil.rmtree(path, ignore_errors=True)
                    lock.unlink()


@dataclass(frozen=True)
class BuiltProgram:
    """A built program. `seconds` is what the build took when it was made; `reused` that this was earlier."""

    path: Path
    seconds: float
    reused: bool


def built(kind: str, key: str, make: Callable[[Path], None]) -> BuiltProgram:
    """The program `simulate` of a cache entry; where there is none, `make` writes it into a folder."""
    begin = time.perf_counter()
    made = False

    def timed(folder: Path) -> None:
        nonlocal made
        made = True
        make(folder)
        (folder / "build.json").write_text(json.dumps({"seconds": time.perf_counter() - begin}))

    folder = cached(kind, key, timed)
    seconds = json.loads((folder / "build.json").read_text())["seconds"]
    return BuiltProgram(folder / "simulate", seconds, not made)
