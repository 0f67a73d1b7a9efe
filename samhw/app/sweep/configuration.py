"""One configuration of a sweep: all that its result follows from, and a key made of that."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, cast

import samhw
from samhw.app.workload import SYNTHETIC
from samhw.choices.place import CHIP
from samhw.choices.schedule import CHOICES, Schedule
from samhw.compiler import AUTO, asked_text, asked_type, asked_types
from samhw.errors import InputError
from samhw.graph import Arch, OffChipMemory, load_memory
from samhw.graph.numerics import ValueType
from samhw.lang import Example, Named, load_named
from samhw.script import Script
from samhw.targets.building.build_cache import digest

__all__ = ["COLUMNS", "Configuration", "version_digest"]

_CHOSEN = tuple(column for one in CHOICES for column in one.columns(getattr(Schedule(), one.name)))

COLUMNS = ("program", "data", "value", "types", *_CHOSEN, "depth", "memory")
"""What every configuration has a value of, in the words of the command line."""

Setting = int | float | str
"""The value of a field of `Arch`."""


LOG = "log:"
"""Before the file of a memory that is the log of a run."""


@dataclass(frozen=True)
class Configuration:
    """A program on data under one schedule and one `Arch`. The other fields are in the words of the command
    line.

    Raises:
        InputError: for a program, value type or setting that there is not.
    """

    program: str
    data: str = "auto"
    """What `--data` takes; several of them joined by `+`."""
    value: ValueType | None = None
    """None is `auto`."""
    schedule: Schedule = field(default_factory=Schedule)
    depth: int | None = None
    """Of every channel between nodes, in tokens, or None for the compiler's depths."""
    memory: str = CHIP
    """What holds the tensors: `chip`, or what `--memory` takes."""
    settings: tuple[tuple[str, Setting], ...] = ()
    """Fields of `Arch` that differ from the default: `slack`, or `alu.f32.mul` for an entry of a table."""
    types: str = ""
    """Of single tensors, as --types has them."""

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 1:
            raise InputError(f"A channel cannot have the depth {self.depth}; give at least 1.")
        self.off_chip_memory()
        self.kinds()
        _known_program(self.program)
        self.arch()

    def arch(self) -> Arch:
        """The `Arch` with the settings made."""
        data = Arch().to_json()
        for name, value in self.settings:
            _set(data, name, value)
        return Arch.from_json(data)

    def kinds(self) -> dict[str, ValueType]:
        """The types of single tensors."""
        return asked_types(self.types)

    def off_chip_memory(self) -> OffChipMemory | None:
        """What holds the tensors that lie off chip, if any do."""
        if self.memory == CHIP:
            if off := [name for name, word in self.schedule.place.items() if word != CHIP]:
                raise InputError(f"'{off[0]}' is to lie off chip, but memory is 'chip'; give another one.")
            return None
        return load_memory(self.memory)

    def specs(self) -> tuple[str, ...]:
        """Each `--data` by itself."""
        return tuple(self.data.split("+"))

    def __str__(self) -> str:
        """In the words of a message: what differs from the defaults."""
        usual = Configuration(self.program).columns()
        said = [
            f"{name}={value}"
            for name, value in self.columns().items()
            if name != "program" and value != usual.get(name)
        ]
        return f"'{self.program} {' '.join(said)}'".replace(" '", "'")

    def columns(self) -> dict[str, Any]:
        """What the table says of the configuration: a column for each field, those of the schedule among
        them, for each region's order, each format and each setting."""
        chosen = dict(_fields(self))
        for one in CHOICES:
            chosen |= one.columns(getattr(self.schedule, one.name))
        entries = {name: value for name, value in chosen.items() if "." in name}
        return {
            **{name: chosen[name] for name in COLUMNS},
            **entries,
            **{f"arch.{name}": value for name, value in self.settings},
        }

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is its inverse."""
        return {**_fields(self), "schedule": self.schedule.to_json(), "settings": dict(self.settings)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Configuration":
        """The configuration of a JSON object."""
        schedule, settings = Schedule.from_fields(data["schedule"]), tuple(data["settings"].items())
        value = asked_type(data["value"])
        return cls(**{**data, "value": value, "schedule": schedule, "settings": settings})

    def key(self) -> str:
        """A name for all that the result follows from: the fields, the whole `Arch`, the contents of the
        files, and samhw itself. Equal only for configurations with equal results.

        Raises:
            InputError: for a file that is not there.
        """
        # Settings that leave the default as it is make no difference.
        chosen = {**_fields(self), "schedule": self.schedule.to_json(), "settings": None}
        memory = self.off_chip_memory()
        defined = json.dumps([chosen, self.arch().to_json(), memory and asdict(memory)], sort_keys=True)
        return digest(version_digest(), defined, *(_content(file) for file in self.files()))

    def files(self) -> Iterator[Path]:
        """The files, and folders of files, that it reads."""
        for spec in (_program_parts(self.program), *map(_data_parts, self.specs())):
            if spec is not None:
                yield Path(spec[1])
        yield from _imported(self.program)
        if self.memory.startswith(LOG):
            yield Path(self.memory.removeprefix(LOG))
        for one in CHOICES:
            yield from map(Path, one.files(getattr(self.schedule, one.name)))

    def anywhere(self) -> "Configuration":
        """The same with absolute paths, for a process in another working directory."""
        data = "+".join(_absolute(_data_parts(spec)) or spec for spec in self.specs())
        memory = str(Path(self.memory).absolute()) if self.memory.endswith(".json") else self.memory
        if memory.startswith(LOG):
            memory = f"{LOG}{Path(memory.removeprefix(LOG)).absolute()}"
        program = _absolute(_program_parts(self.program)) or self.program
        fields = {one.name: one.anywhere(getattr(self.schedule, one.name)) for one in CHOICES}
        schedule = Schedule(**fields)
        return replace(self, program=program, data=data, memory=memory, schedule=schedule)


def _fields(configuration: Configuration) -> dict[str, object]:
    """The fields by name, with the name of the value type."""
    found = {field.name: getattr(configuration, field.name) for field in fields(configuration)}
    return {**found, "value": asked_text(configuration.value)}


@cache
def _known_program(spec: str) -> Named:
    return load_named(spec)


@cache
def _imported(spec: str) -> Sequence[Path]:
    """The files beside a user's Python file that the program needs."""
    if ".py:" not in spec:
        return ()
    found = _known_program(spec)
    if isinstance(found, Example):  # It may import more.
        found.function()
    return Script(spec.rpartition(":")[0]).neighbours()


def _set(data: dict[str, Any], name: str, value: Setting) -> None:
    """Sets an entry of `Arch.to_json()`, in which a dot leads into a table."""
    *tables, last = name.split(".")
    for table in tables:
        data = cast(dict[str, Any], data.get(table)) if isinstance(data.get(table), dict) else {}
    if isinstance(entries := data.get(last), dict):
        names = ", ".join(f"{name}.{entry}" for entry in entries)
        raise InputError(f"Arch.{name} is a table, of {names}; set an entry of it.")
    if last not in data:
        inside = f"{'.'.join(tables)} has {', '.join(data)}" if data else f"{'.'.join(tables)} has no entries"
        if not tables:
            inside = f"Arch has {', '.join(data)}"
        raise InputError(f"Arch has no field '{name}' to set: {inside}.")
    if data[last] is not None and type(value) is not type(data[last]):
        raise InputError(f"Arch.{name} is {data[last]!r} by default, and {value!r} is of another kind.")
    data[last] = value


# Files

_Parts = tuple[str, str, str]
"""A file's path with what stands before it and after it."""


def _program_parts(spec: str) -> _Parts | None:
    if spec.endswith((".ein", ".mlir", ".onnx")):
        return "", spec, ""
    path, colon, name = spec.rpartition(":")
    return ("", path, colon + name) if path.endswith((".py", ".mlir", ".onnx")) else None


def _data_parts(spec: str) -> _Parts | None:
    """As `make_workload` reads it."""
    name, equals, path = spec.partition("=")
    if spec in (AUTO, "karate") or spec.partition(":")[0] in ("random", SYNTHETIC):
        return None
    if equals and name.isidentifier():
        return name + equals, path, ""
    path, colon, option = spec.partition(":")
    return "", path, colon + option


def _absolute(parts: _Parts | None) -> str | None:
    return f"{parts[0]}{Path(parts[1]).absolute()}{parts[2]}" if parts else None


def _content(path: Path) -> str:
    """A hash of a file, or of all files of a folder."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    try:
        stats = [(file, file.stat()) for file in files]
        return digest(*(_file_digest(file, stat.st_size, stat.st_mtime_ns) for file, stat in stats))
    except OSError as error:
        raise InputError(f"Cannot read {path} ({error.strerror}); give a file that is there.") from None


@lru_cache(maxsize=1024)
def _file_digest(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


_SHOWN = ("app/cli", "app/papers", "app/report")
"""The folders from which no result follows."""


@cache
def version_digest() -> str:
    """A hash of samhw's version and sources, but for those that only show results. A list of those that
    results follow from would grow old."""
    package = Path(__file__).parents[2]
    whole = sha256(samhw.__version__.encode())
    for path in sorted(package.rglob("*")):
        is_shown = path.relative_to(package).as_posix().startswith(_SHOWN)
        if path.suffix in (".py", ".ein") and not is_shown:
            whole.update(path.read_bytes())
    return whole.hexdigest()
