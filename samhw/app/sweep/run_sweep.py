"""A sweep: what the journal lacks is measured, and a table of everything is written. The journal has a line
of JSON for each finished configuration, which no crash takes back."""

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import samhw
from samhw.app.sweep.configuration import Configuration
from samhw.app.sweep.outcome import AGAIN, Outcome, is_outcome
from samhw.app.sweep.sweep_table import Row, check_suffix, write_table
from samhw.app.sweep.workers import run_locally, run_on_cluster
from samhw.errors import InputError, InterruptedWorkError, RunError
from samhw.files import reason

__all__ = ["Journal", "State", "journal_of", "sweep"]


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


class State(NamedTuple):
    """How far a sweep is, in configurations."""

    done: int
    """Those that were in the journal included."""
    total: int
    reused: int
    """Those that were in the journal."""


def journal_of(output: Path) -> Path:
    """The journal of a table, beside it."""
    return output.with_name(f"{output.name}.journal")


def sweep(
    configurations: Sequence[Configuration],
    output: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[State], None] | None = None,
) -> list[Row]:
    """Measures configurations and writes a table of them.

    Each finished one is noted at once in a journal beside the table. A sweep that is ended, however that
    happens, goes on from there when it is called again; so does one of more or of other configurations.

    Args:
        output: the table, `.csv` or `.parquet`.
        jobs: processes on this machine; by default one for each processor.
        scheduler: address of a Dask scheduler, such as `tcp://host:8786`, whose workers measure instead.
        progress: is told how far the sweep is, first of all and after each configuration.

    Returns:
        The rows of the table, in the order of the configurations.

    Raises:
        InputError: for files that cannot be read or written, and what `run_on_cluster` raises.
        InterruptedWorkError: after Ctrl-C, with the table of all that was finished.
    """
    check_suffix(output)
    if jobs is not None and jobs < 1:
        raise InputError(f"A sweep cannot have {jobs} processes; give at least 1.")
    keyed = [(configuration.key(), configuration) for configuration in configurations]
    # Those whose results are equal by definition, such as with a setting that is the default, run once.
    keys = dict(keyed)
    with Journal(journal_of(output)) as journal:

        def rows() -> list[Row]:
            return [_row(key, c, journal) for key, c in keyed if key in journal.outcomes]

        tasks = [
            (key, configuration)
            for key, configuration in keys.items()
            if key not in journal.outcomes or journal.outcomes[key]["status"] in AGAIN
        ]
        done = reused = len(keys) - len(tasks)
        if progress:
            progress(State(done, len(keys), reused))
        outcomes = run_on_cluster(tasks, scheduler) if scheduler and tasks else run_locally(tasks, jobs)
        try:
            with closing(outcomes):
                for key, outcome in outcomes:
                    journal.append(key, keys[key], outcome)
                    done += 1
                    if progress:
                        progress(State(done, len(keys), reused))
        except KeyboardInterrupt:
            raise InterruptedWorkError(
                f"The sweep was interrupted with {len(rows())} of {len(keyed)} configurations done; the same "
                "command goes on from there."
            ) from None
        finally:
            if found := rows():
                write_table(output, found)
        return found


def _row(key: str, configuration: Configuration, journal: Journal) -> Row:
    return {**configuration.columns(), **journal.outcomes[key], "samhw": samhw.__version__, "key": key}
