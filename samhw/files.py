"""Files that appear whole or not at all, and where samhw keeps them. This module imports only errors, so that
every folder may use it."""

import errno
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from samhw.errors import InputError

__all__ = [
    "cache_directory",
    "check_new",
    "check_readable",
    "new_directory",
    "read_toml",
    "reason",
    "replacing",
    "replacing_path",
    "temporary_beside",
    "write_bytes",
    "write_text",
]

_DEVICES = (Path("/dev"), Path("/dev/fd"))


def temporary_beside(path: Path) -> Path:
    """An unused, hidden name in the directory of ``path``, so that renaming it stays on one file system."""
    return path.with_name(f".{uuid4().hex}.tmp")


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """The name of a file that is to be written, which becomes ``path`` if the block succeeds, and vanishes if
    it fails. A device or a pipe, which no file can take the place of, is given as it is."""
    if path.parent in _DEVICES or (path.exists() and not path.is_file()):
        yield path
        return
    path = Path(os.path.realpath(path))  # A link stays one.
    temporary = temporary_beside(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """An open binary file that becomes ``path`` if the block succeeds, and vanishes if it fails."""
    with replacing_path(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def new_directory(directory: Path) -> Iterator[Path]:
    """An empty directory beside ``directory``, which takes its place if the block succeeds, and vanishes if
    it fails.

    Raises:
        InputError: if the directory is there and not empty, or cannot be written.
    """
    check_new(directory)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".samhw-", dir=directory.parent))
    except (OSError, ValueError) as error:
        raise _unwritable(directory, error) from None
    try:
        yield staging
        staging.chmod(0o755)
        if directory.exists():
            directory.rmdir()
        staging.rename(directory)
    except OSError as error:
        raise _unwritable(directory, error) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def check_new(directory: Path) -> None:
    """Raises `InputError` if a directory is there and not empty, or cannot be looked at."""
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise InputError(f"{directory} is there and not empty; choose another directory or remove it.")
    except (OSError, ValueError) as error:
        raise _unwritable(directory, error) from None


def _unwritable(directory: Path, error: OSError | ValueError) -> InputError:
    return InputError(f"Cannot write {directory} ({reason(error)}); choose another directory.")


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Writes a text or its pieces to a file, all of it or nothing; raises as `write_bytes` does."""
    write_bytes(path, (piece.encode() for piece in ([text] if isinstance(text, str) else text)))


def write_bytes(path: Path, pieces: Iterable[bytes]) -> None:
    """Writes pieces to a file, all of them or nothing.

    Raises:
        InputError: if that cannot be done.
    """
    try:
        with replacing(path) as file:
            file.writelines(pieces)
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot write {path} ({reason(error)}); choose another place.") from None


def check_readable(path: Path) -> Path:
    """The path of a file that has an end: a device or a pipe may have none. Raises `OSError` for another."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "neither a file nor a directory")
    return path


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """What a TOML file has.

    Args:
        what: the file should be of, for the error's hint: `a sweep`.

    Raises:
        InputError: if it cannot be read, or is no TOML.
    """
    try:
        with check_readable(path).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(f"Cannot read {path} ({error.strerror}); give the file of {what}.") from None
    except (ValueError, RecursionError) as error:  # Also what is not UTF-8.
        raise InputError(f"{path} is no TOML: {error}.") from None


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be used, in the system's words. A ValueError comes from a name that can be none."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def cache_directory() -> Path:
    """`$SAMHW_CACHE`, else `samhw` in the user's cache folder (`$XDG_CACHE_HOME`, `~/.cache`)."""
    if chosen := os.environ.get("SAMHW_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "samhw"
