"""From axes to configurations: every combination of what each axis has."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from samhw.app.sweep.configuration import Configuration
from samhw.choices.schedule import CHOICES, Schedule, every, with_words
from samhw.compiler import asked_type
from samhw.errors import InputError
from samhw.files import read_toml

__all__ = ["AXES", "product", "read_description"]

_CONFIGURED = ("program", "data", "value", "depth", "memory")
"""The axes that are fields of a configuration by themselves."""

AXES = (*_CONFIGURED, "schedule", *(one.name for one in CHOICES))
"""Beside these each setting of `Arch` is one. `schedule` is a file, which the choices override; a choice that
is a table may be one here too, each of whose entries is an axis."""

_TABLES = tuple(one.name for one in CHOICES if one.has_entries)

_KINDS: dict[str, type] = {"depth": int, **{one.name: one.kind for one in CHOICES}}
"""What an axis holds, if not texts."""


def product(axes: Mapping[str, object], arch: Mapping[str, object] | None = None) -> Iterator[Configuration]:
    """Every combination, the last axis varying fastest.

    Args:
        axes: by name in `AXES`, a value or a list of values; `program` must be there.
        arch: by setting (`slack`, `alu.f32.mul`), or in tables within tables, a value or a list of values.

    Raises:
        InputError: for an axis that there is not, or a value that does not fit it.
    """
    for name in axes:
        if name not in AXES:
            raise InputError(f"A sweep has no axis '{name}'; the axes are {', '.join(AXES)} and arch.")
    if "program" not in axes:
        raise InputError("A sweep needs programs; give 'program', a name or a list of names.")
    chosen: dict[str, list[Any]] = {}
    for name in ("schedule", *AXES):
        if name in axes:
            chosen |= _entries(name, axes[name])
    settings = {name: _list(values) for name, values in _flat(arch or {})}
    for picked, numbers in ((picked, numbers) for picked in every(chosen) for numbers in every(settings)):
        schedule = _schedule(picked)
        others = {name: value for name, value in picked.items() if name in _CONFIGURED}
        if "value" in others:
            others["value"] = asked_type(others["value"])
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
