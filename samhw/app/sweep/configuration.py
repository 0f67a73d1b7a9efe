"""The configurations of a sweep, made of its axes: all that the result of one follows from, and a key of
that."""

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
from samhw.choices.schedule import CHOICES, Schedule, every, with_words
from samhw.compiler import AUTO, asked_text, asked_type, asked_types
from samhw.errors import InputError
from samhw.files import read_toml
from samhw.graph import Arch, OffChipMemory, load_memory
from samhw.graph.numerics import ValueType
from samhw.lang import Example, Named, load_named
from samhw.script import Script
from samhw.targets.building.build_cache import digest
from samhw.words import did_you_mean

__all__ = ["AXES", "COLUMNS", "Configuration", "product", "read_description", "version_digest"]

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
        if self.memory == "none":
            raise InputError("There is no memory 'none'; tensors on the chip have the memory 'chip'.")
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
        raise InputError(f"Arch has no field '{name}' to set: {inside}{did_you_mean(last, data)}.")
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


# From axes to configurations: every combination of what each axis has.


_CONFIGURED = ("program", "data", "value", "types", "depth", "memory")
"""The axes that are fields of a configuration by themselves."""

NONE = "none"
"""The types of a program that keeps its own."""

AXES = (*_CONFIGURED, "schedule", *(one.name for one in CHOICES))
"""Beside these each setting of `Arch` is one. `schedule` is a file, which the choices override; a choice that
is a table may be one here too, each of whose entries is an axis."""

_TABLES = tuple(one.name for one in CHOICES if one.has_entries)

_KINDS: dict[str, type] = {"depth": int, **{one.name: one.kind for one in CHOICES}}
"""What an axis holds, if not texts."""


def product(axes: Mapping[str, object], arch: Mapping[str, object] | None = None) -> Iterator[Configuration]:
    """Every combination, the last axis varying fastest.

    Args:
        axes: by name in `AXES`, a value or a list of values; `program` must be there. An entry of a table is
            an axis `formats.A`, as a column of the result is called.
        arch: by setting (`slack`, `alu.f32.mul`), or in tables within tables, a value or a list of values.

    Raises:
        InputError: for an axis that there is not, or a value that does not fit it.
    """
    for name in axes:
        if name not in AXES and name.partition(".")[0] not in _TABLES:
            raise InputError(
                f"A sweep has no axis '{name}'{did_you_mean(name, AXES)}; the axes are {', '.join(AXES)} and "
                "arch."
            )
    if "program" not in axes:
        raise InputError("A sweep needs programs; give 'program', a name or a list of names.")
    chosen: dict[str, list[Any]] = {}
    for name in ("schedule", *AXES):
        if name in axes:
            chosen |= _entries(name, axes[name])
        chosen |= {own: _values(own, axes[own]) for own in axes if own.startswith(f"{name}.")}
    settings = {name: _list(values) for name, values in _flat(arch or {})}
    for picked, numbers in ((picked, numbers) for picked in every(chosen) for numbers in every(settings)):
        schedule = _schedule(picked)
        others = {name: value for name, value in picked.items() if name in _CONFIGURED}
        if "value" in others:
            others["value"] = asked_type(others["value"])
        if others.get("types") == NONE:
            del others["types"]
        yield Configuration(**others, schedule=schedule, settings=tuple(numbers.items()))


def _entries(name: str, axis: object) -> dict[str, list[Any]]:
    """The values of an axis, or of each entry of a table of axes, with the table's name before its own."""
    if name not in _TABLES or not isinstance(axis, Mapping):
        return {name: _values(name, axis)}
    return {f"{name}.{entry}": _values(f"{name}.{entry}", values) for entry, values in axis.items()}


def _schedule(picked: Mapping[str, Any]) -> Schedule:
    """The schedule of a file, with the fields that axes have."""
    base = _load(picked["schedule"]) if "schedule" in picked else Schedule()
    beside = (*_CONFIGURED, "schedule")
    return with_words(base, {name: word for name, word in picked.items() if name not in beside})


@cache
def _load(name: str) -> Schedule:
    return Schedule.of(name)


def read_description(path: Path) -> list[Configuration]:
    """The configurations that a TOML file describes, each once.

    At the top level are axes, with those of `arch` in a table. Each table of `[[sweep]]`, if there are any,
    is a product by itself, to which the axes of the top level are common unless it has them too. What fits
    all entries of a table of `[[exclude]]` is left out.

    Raises:
        InputError: for a file that cannot be read, is no TOML, or describes nothing.
    """
    data = read_toml(path, "a sweep")
    try:
        found = _described(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if not found:
        raise InputError(f"{path}: nothing is left of the sweep; give fewer tables of [[exclude]].")
    return found


def _described(data: dict[str, Any]) -> list[Configuration]:
    tables = _tables(data, "sweep") or [{}]
    excluded = [_exclusion(table) for table in _tables(data, "exclude")]
    found: dict[Configuration, None] = {}
    for table in tables:
        axes = {**data, **table}
        arch = dict(_flat(data.get("arch", {}))) | dict(_flat(table.get("arch", {})))
        axes.pop("arch", None)
        for name in _TABLES:
            if isinstance(data.get(name), Mapping) and isinstance(table.get(name), Mapping):
                axes[name] = {**data[name], **table[name]}
        for configuration in product(axes, arch):
            columns = configuration.columns()
            if not any(all(columns.get(name) in values for name, values in e.items()) for e in excluded):
                found[configuration] = None
    return list(found)


def _tables(data: dict[str, Any], name: str) -> list[dict[str, Any]]:
    tables = data.pop(name, [])
    if not (isinstance(tables, list) and all(isinstance(table, dict) for table in tables)):
        raise InputError(f"'{name}' is no list of tables; write [[{name}]].")
    return tables


def _exclusion(table: dict[str, Any]) -> dict[str, list[Any]]:
    """By column, the values that are left out."""
    settings = {f"arch.{name}": _list(values) for name, values in _flat(table.pop("arch", {}))}
    found: dict[str, list[object]] = {}
    for name, values in table.items():
        if name not in AXES:
            raise InputError(f"[[exclude]] names '{name}'; the axes are {', '.join(AXES)} and arch.")
        found |= _entries(name, values)
    return found | settings


def _values(name: str, values: object) -> list[Any]:
    """The values of an axis, of the kind that it has."""
    kind = _KINDS.get(name, str)
    found = [None if name == "depth" and value == "auto" else value for value in _list(values)]
    if kind is str and name not in _CONFIGURED:
        # A schedule's word may be a number: 1 is one lane.
        found = [str(value) if type(value) is int else value for value in found]
    for value in found:
        if type(value) is not kind and not (name == "depth" and value is None):
            wanted = {str: "a text", bool: "true or false", int: 'a whole number or "auto"'}[kind]
            raise InputError(f"'{name}' is {value!r}, which is not {wanted}.")
    return found


def _list(values: object) -> list[Any]:
    found = list(values) if isinstance(values, Sequence) and not isinstance(values, str) else [values]
    return list(dict.fromkeys(found))


def _flat(table: object) -> Iterator[tuple[str, Any]]:
    """The entries of tables within tables, with dots in their names."""
    if not isinstance(table, Mapping):
        raise InputError("'arch' is no table; write [arch], and below it a line for each setting.")
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", found) for inner, found in _flat(value))
        else:
            yield name, value
