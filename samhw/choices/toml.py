"""Writes what a schedule has in TOML, which Python only reads.

A list stands in one line, as people write them. tomli-w gives each name of each region a line of its own.
"""

import json
import re
from collections.abc import Mapping

__all__ = ["dumps"]


def dumps(data: Mapping[str, object]) -> str:
    """The text of a TOML file: values first, then tables, whose entries are no tables."""
    lines = [
        f"{_key(name)} = {_value(value)}" for name, value in data.items() if not isinstance(value, Mapping)
    ]
    for name, table in data.items():
        if isinstance(table, Mapping):
            lines += [f"[{_key(name)}]", *(f"{_key(key)} = {_value(value)}" for key, value in table.items())]
    return "".join(f"{line}\n" for line in lines)


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _value(name)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            # A text of JSON is one of TOML, but for one character that this escapes.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} has no form in TOML here")
