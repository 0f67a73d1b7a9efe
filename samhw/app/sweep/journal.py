"""A journal: a line of JSON for each finished task, which no crash takes back; and those of parts, put
together."""

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from samhw.app.sweep.configuration import Configuration, version_digest
from samhw.app.sweep.outcome import Outcome, is_outcome
from samhw.errors import InputError, RunError
from samhw.files import reason

__all__ = ["Journal", "Kept", "MergedShards", "Shard", "merge", "read_journal"]


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


# A sweep in parts: which configurations a part has, and one table of the journals of all.


_T = TypeVar("_T")

_NAMED = 5
"""How many configurations a sentence names."""


@dataclass(frozen=True)
class Shard:
    """One part of `count`, from 1."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Of `3/64`; raises InputError for another text."""
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f"--shard {text}: give a part and how many there are, from 1/64 to 64/64.")
        return cls(int(found[1]), int(found[2]))

    def of(self, tasks: Mapping[str, _T]) -> dict[str, _T]:
        """Every `count`-th task: neighbours, which take about as long, are in different parts."""
        return {key: task for n, (key, task) in enumerate(tasks.items()) if n % self.count == self.number - 1}

    def head(self, keyed: Sequence[tuple[str, Configuration]]) -> dict[str, Any]:
        """What the part's journal says of the whole: its configurations, and which version of samhw they
        are for."""
        points = [{"key": key, "configuration": one.to_json()} for key, one in keyed]
        return {"version": version_digest(), "shard": [self.number, self.count], "points": points}


@dataclass(frozen=True)
class MergedShards:
    """What journals hold together.

    Attributes:
        keyed: all configurations of the sweep in their order, with their keys.
        outcomes: by key.
    """

    keyed: Sequence[tuple[str, Configuration]]
    outcomes: Mapping[str, Mapping[str, Any]]


def merge(paths: Sequence[Path]) -> MergedShards:
    """Puts the journals of the parts of a sweep together.

    Raises:
        InputError: for a file that is no part's journal, for one of another sweep or of another version of
            samhw or of the data, and where a configuration is missing.
    """
    parts = {path: read_journal(path) for path in paths}
    for path, part in parts.items():
        if part.head is None:
            raise InputError(f"{path} is not the journal of a shard; give those that '--shard' has written.")
    # What most parts are of is the sweep; a later one of two equals is the newer.
    versions = Counter(str(part.head["version"]) for part in parts.values() if part.head)
    version = versions.most_common(1)[0][0]
    (first_path, first), *_ = [
        (p, one) for p, one in parts.items() if one.head and one.head["version"] == version
    ]
    assert first.head is not None
    for path, part in parts.items():
        assert part.head is not None
        if part.head["version"] != version:
            raise InputError(
                f"{path} was measured by another version of samhw than {first_path}: {_names(part)}; measure "
                "its shard again."
            )
        if part.head["points"] != first.head["points"]:
            raise InputError(_other_points(path, part, first_path, first))
    keyed = [(one["key"], Configuration.from_json(one["configuration"])) for one in first.head["points"]]
    outcomes = {key: outcome for part in parts.values() for key, outcome in part.outcomes.items()}
    _check_all(keyed, outcomes, first.head["shard"][1])
    return MergedShards(keyed, outcomes)


def _other_points(path: Path, part: Kept, first_path: Path, first: Kept) -> str:
    """Why the points of two parts differ: other data have other keys."""
    assert part.head is not None
    assert first.head is not None
    ours, theirs = part.head["points"], first.head["points"]
    if [one["configuration"] for one in ours] != [one["configuration"] for one in theirs]:
        return f"{path} is of another sweep than {first_path}; give the shards of one."
    changed = [a["configuration"] for a, b in zip(ours, theirs, strict=True) if a["key"] != b["key"]]
    return (
        f"{path} was measured on other data than {first_path}: "
        f"{_listed(map(Configuration.from_json, changed))}; measure its shard again."
    )


def _check_all(
    keyed: Sequence[tuple[str, Configuration]], outcomes: Mapping[str, object], count: int
) -> None:
    """Raises InputError where something is missing, with the parts that lack it."""
    unique = dict(keyed)
    missing = [one for key, one in unique.items() if key not in outcomes]
    if missing:
        lacking = sorted({n % count + 1 for n, key in enumerate(unique) if key not in outcomes})
        shards = ", ".join(f"{number}/{count}" for number in lacking)
        raise InputError(
            f"{len(missing)} of {len(unique)} configurations are missing: {_listed(missing)}; run "
            f"{'--shard' if len(lacking) == 1 else 'the shards'} {shards}."
        )


def _names(part: Kept) -> str:
    """The configurations that a part has measured."""
    assert part.head is not None
    points = {one["key"]: one["configuration"] for one in part.head["points"]}
    return _listed(Configuration.from_json(points[key]) for key in part.outcomes if key in points)


def _listed(configurations: Iterable[Configuration]) -> str:
    found = list(map(str, configurations))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more
