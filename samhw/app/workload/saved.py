"""What decides a design beside its program, in a file: so that it can be made again, exactly."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, asked_text, asked_type
from samhw.errors import InputError
from samhw.files import check_readable, reason, write_text
from samhw.graph import Arch, dumps
from samhw.graph.numerics import ValueType
from samhw.lang import Capacity

__all__ = ["SavedDesign", "fingerprint"]

_VERSION = 1
"""Of the file. A field more, or another meaning of one, makes the next."""
_GREATEST = 1 << 63
"""No extent and no number of entries is larger."""


@dataclass(frozen=True)
class SavedDesign:
    """What decides a design, beside the text of its program.

    Attributes:
        name: of the program, whose text does not say it.
        open: the inputs that are stored as their first data will be.
        schedule, value, arch, entries: as `samhw.compile` was given them.
        capacity: what it has been compiled for.
        compiled: the value type that it has been compiled with; None before.
        fingerprint: of what was compiled.
    """

    name: str | None = None
    open: tuple[str, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    value: ValueType | None = None
    arch: Arch | None = None
    entries: Mapping[str, int] = field(default_factory=dict)
    capacity: Capacity = field(default_factory=Capacity)
    compiled: ValueType | None = None
    fingerprint: str | None = None

    @staticmethod
    def beside(program: Path) -> Path:
        """The file for a program's: p.design.json beside p.ein.

        Raises:
            InputError: for a path that names no file.
        """
        try:
            return program.with_name(f"{program.stem}.design.json")
        except ValueError:
            raise InputError(f"'{program}' names no file; give one for the program, such as p.ein.") from None

    def write(self, path: Path) -> None:
        """Writes the file, which `read` reads; raises `InputError` if that cannot be done."""
        from importlib.metadata import version  # It takes long to load.

        data = {
            "samhw_design": _VERSION,
            "samhw": version("samhw"),
            "name": self.name,
            "open": list(self.open),
            "schedule": self.schedule.to_json(),
            "value": asked_text(self.value),
            "arch": self.arch.to_json() if self.arch else None,
            "entries": dict(self.entries),
            "extents_for": dict(self.capacity.extents),
            "entries_for": dict(self.capacity.entries),
            **({"banks_for": dict(self.capacity.banks)} if self.capacity.banks else {}),
            "compiled": self.compiled and self.compiled.name,
            "fingerprint": self.fingerprint,
        }
        write_text(path, json.dumps(data, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, path: Path) -> "SavedDesign":
        """The design of a file.

        Raises:
            InputError: for a file that cannot be read, is damaged, or comes from a later version.
        """
        try:
            data = json.loads(check_readable(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(
                f"Cannot read {path} ({reason(error)}); give what 'save' of a design has written."
            ) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is damaged, no JSON ({error}); save the design again.") from None
        number = data.get("samhw_design") if isinstance(data, dict) else None
        if type(number) is not int:
            raise InputError(f"{path} is no saved design; give what 'save' of a design has written.")
        if number != _VERSION:
            raise InputError(
                f"{path} is of version {number}, written by samhw {data.get('samhw')}, and this samhw reads "
                f"version {_VERSION}; install that samhw, or save the design again with this one."
            )
        try:
            return cls._from_json(data)
        except InputError as error:
            raise InputError(f"{path} is damaged: {error} Save the design again.") from None

    @classmethod
    def _from_json(cls, data: dict[str, Any]) -> "SavedDesign":
        given = _Fields(data)
        fields = ("extents_for", "entries_for", *(("banks_for",) if "banks_for" in data else ()))
        room = Capacity(*map(given.counts, fields))
        saved = cls(
            name=given.take("name", str | None),
            open=tuple(given.names("open")),
            schedule=Schedule.from_fields(given.take("schedule", dict)),
            value=given.value("value"),
            arch=None if (arch := given.take("arch", dict | None)) is None else Arch.from_json(arch),
            entries=given.counts("entries"),
            capacity=room,
            compiled=given.value("compiled"),
            fingerprint=given.take("fingerprint", str | None),
        )
        given.check_empty()
        return saved

    def check(self, compiled: Compiled, path: Path) -> None:
        """Raises `InputError` if that is not what was saved."""
        if self.fingerprint not in (None, fingerprint(compiled)):
            raise InputError(
                f"{path} and the program beside it do not give the design that was saved: one of them, or "
                "samhw, has been changed since. Save the design again, or, to take what they give now, make "
                '"fingerprint" null in the file.'
            )


def fingerprint(compiled: Compiled) -> str:
    """Equal for designs that are equal to the last channel, and take the same latencies."""
    text = dumps(compiled.design) + compiled.arch.dumps()
    return hashlib.sha256(text.encode()).hexdigest()


class _Fields:
    """The fields of a file, each of which is taken once and has to be of its kind."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._left = {name: value for name, value in data.items() if name not in ("samhw_design", "samhw")}

    def take(self, name: str, kind: Any) -> Any:
        if name not in self._left:
            raise InputError(f"the field '{name}' is missing.")
        value = self._left.pop(name)
        if not isinstance(value, kind):
            raise InputError(f"the field '{name}' cannot be {json.dumps(value)}.")
        return value

    def names(self, name: str) -> list[str]:
        found = self.take(name, list)
        if not all(isinstance(item, str) for item in found):
            raise InputError(f"the field '{name}' has something else than names.")
        return list(found)

    def counts(self, name: str) -> dict[str, int]:
        found = self.take(name, dict)
        if not all(type(count) is int and 0 <= count <= _GREATEST for count in found.values()):
            raise InputError(f"the field '{name}' has something else than counts.")
        return dict(found)

    def value(self, name: str) -> ValueType | None:
        """A value type."""
        found: str | None = self.take(name, str | None)
        return None if found is None else asked_type(found)

    def check_empty(self) -> None:
        for name in self._left:
            raise InputError(f"there is no field '{name}'.")
