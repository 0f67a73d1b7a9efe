"""The build cache: folders named by the hash of all that went into them, made once for every process."""

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from samhw.cache import cache_directory
from samhw.errors import InputError

__all__ = ["cached", "digest"]

_KEEP_DAYS = 30
"""An entry that nobody used for so long is removed."""


def digest(*parts: str | bytes) -> str:
    """A name for the parts: equal only for equal parts."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "little"))
        whole.update(data)
    return whole.hexdigest()[:32]


def cached(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """The folder `kind/key` of the cache; if it is not there, `make` fills it.

    `make` gets an empty folder, which becomes the entry when it returns and vanishes when it raises. Another
    process that wants the same entry waits for it. Raises `InputError` when the cache cannot be written.
    """
    home = cache_directory() / kind
    entry = home / key
    if entry.is_dir():
        _touch(entry)
        return entry
    with _lock(home / f"{key}.lock"):
        if not entry.is_dir():
            _fill(entry, make)
            _prune(home)
    return entry


def _fill(entry: Path, make: Callable[[Path], None]) -> None:
    work = Path(tempfile.mkdtemp(prefix=f"{entry.name}.", dir=entry.parent))
    try:
        make(work)
        work.rename(entry)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise InputError(
            f"The build cache {path.parent} cannot be written ({error.strerror}); set SAMHW_CACHE to a "
            "folder that can."
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _touch(entry: Path) -> None:
    with suppress(OSError):  # A cache that is only readable serves too.
        os.utime(entry)


def _prune(home: Path) -> None:
    oldest = time.time() - _KEEP_DAYS * 86400
    for path in home.iterdir():
        if path.is_dir() and path.stat().st_mtime < oldest:
            shutil.rmtree(path, ignore_errors=True)
            path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
