"""The journal of a sweep: a line of JSON for each finished configuration, which no crash takes back."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType

from samhw.app.sweep.configuration import Configuration
from samhw.app.sweep.outcome import Outcome, is_outcome
from samhw.errors import InputError, RunError
from samhw.files import reason

__all__ = ["Journal"]


class Journal:
    """An open journal, which no other process can have open at the same time.

    Attributes:
        outcomes: by key, the latest one of each configuration.
    """

    def __init__(self, path: Path) -> None:
        """Opens a journal, or begins one.

        A last line that was being written when a process was killed is cut off.

        Raises:
            InputError: for a file that cannot be written, is open in another process, or is no journal.
        """
        self.outcomes: dict[str, Outcome] = {}
        self._path = path
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
        whole = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line)
                key, found = entry["key"], entry["outcome"]
            except (ValueError, KeyError, TypeError, RecursionError):
                key, found = None, None
            if not (isinstance(key, str) and is_outcome(found)):
                raise InputError(
                    f"Line {number} of the journal {self._path} is damaged; delete the line, or the file to "
                    "measure everything again."
                ) from None
            self.outcomes[key] = found
            whole += len(line)
        self._file.truncate(whole)

    def append(self, key: str, configuration: Configuration, outcome: Outcome) -> None:
        """Notes an outcome; when this returns, it is on the disk."""
        self.outcomes[key] = outcome
        entry = {"key": key, "configuration": configuration.to_json(), "outcome": outcome}
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
