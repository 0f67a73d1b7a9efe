"""A journal: a line of JSON for each finished task, which no crash takes back."""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from samhw.app.sweep.outcome import Outcome, is_outcome
from samhw.errors import InputError, RunError
from samhw.files import reason

__all__ = ["Journal", "Kept", "read_journal"]


@dataclass
class Kept:
    """What a journal holds.

    Attributes:
        head: what its first line says of all, if it says anything.
        outcomes: by key, the latest one of each task.
    """

    head: Mapping[str, Any] | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)


def read_journal(path: Path) -> Kept:
    """What a journal holds, which another process may be writing.

    Raises:
        InputError: for a file that cannot be read, or is no journal.
    """
    try:
        with path.open("rb") as file:
            return _parsed(path, file)[0]
    except OSError as error:
        raise InputError(f"Cannot read {path} ({error.strerror}); give the journal of a shard.") from None


def _parsed(path: Path, file: Iterable[bytes]) -> tuple[Kept, int]:
    """What a file holds, and how many bytes of it are whole lines."""
    found, whole = Kept(), 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        try:
            entry = json.loads(line)
            if number == 1 and "head" in entry:
                found.head = {**entry["head"]}
                whole += len(line)
                continue
            key, outcome = entry["key"], entry["outcome"]
        except (ValueError, KeyError, TypeError, RecursionError):
            key, outcome = None, None
        if not (isinstance(key, str) and is_outcome(outcome)):
            raise InputError(
                f"Line {number} of the journal {path} is damaged; delete the line, or the file to measure "
                "everything again."
            ) from None
        found.outcomes[key] = outcome
        whole += len(line)
    return found, whole


class Journal:
    """An open journal, which no other process can have open at the same time.

    Attributes:
        outcomes: by key, the latest one of each task.
    """

    def __init__(self, path: Path, head: Mapping[str, Any] | None = None) -> None:
        """Opens a journal, or begins one.

        A last line that was being written when a process was killed is cut off.

        Args:
            head: what the first line says, of a new journal as of an old one.

        Raises:
            InputError: for a file that cannot be written, is open in another process, or is no journal, or
                the journal of something else.
        """
        self.outcomes: dict[str, Outcome] = {}
        self._path = path
        self._head = head
        try:
            self._file = path.open("a+b")
        except OSError as error:
            raise InputError(f"Cannot write {path} ({error.strerror}); choose another place.") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise InputError(
                f"Another sweep is writing to {path}; wait for it, or choose another output."
            ) from None
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _read(self) -> None:
        self._file.seek(0)
        found, whole = _parsed(self._path, self._file)
        if found.head != self._head:
            if whole:
                raise InputError(
                    f"{self._path} is the journal of other points, or of those of another version of samhw "
                    "or of the data; choose another output, or delete the file to measure everything again."
                )
            self._file.truncate(0)
            self._write({"head": self._head})
        else:
            self._file.truncate(whole)
        self.outcomes = found.outcomes

    def append(self, key: str, configuration: Mapping[str, Any], outcome: Outcome) -> None:
        """Notes an outcome; when this returns, it is on the disk."""
        self.outcomes[key] = outcome
        self._write({"key": key, "configuration": configuration, "outcome": outcome})

    def _write(self, entry: Mapping[str, Any]) -> None:
        try:
            # Not into the buffer, which would be written once more when the file is closed.
            _write(self._file.fileno(), json.dumps(entry).encode() + b"\n")
            os.fsync(self._file.fileno())
        except OSError as error:
            raise RunError(
                f"Cannot write {self._path} ({reason(error)}); make room, and the same command goes on from "
                "there."
            ) from None

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.outcomes:  # Nothing came of it.
            self._path.unlink()
        self._file.close()


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
