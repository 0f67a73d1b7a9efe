"""The level types by name, as the files in `levels` beside this one have them: there is no list to add to."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from samhw.errors import InputError
from samhw.tensors.formats import levels
from samhw.tensors.formats.level import LevelType

__all__ = ["level_type", "level_types"]

_TEXT = re.compile(r"(\w+)(?:\(\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*\))?")


@cache
def level_types() -> Mapping[str, type[LevelType]]:
    """All of them by their names, in alphabetical order of their files."""
    modules = [import_module(f"{levels.__name__}.{found.name}") for found in iter_modules(levels.__path__)]
    types = [
        thing
        for module in sorted(modules, key=lambda module: module.__name__)
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, LevelType) and thing.__module__ == module.__name__
    ]
    return {type.name: type for type in types}


def level_type(text: str) -> LevelType:
    """The level type that a text names, such as ``dense`` or ``ell(4)``.

    Raises
    ------
    InputError
        When the text names none.
    """
    parts = _TEXT.fullmatch(text)
    found = level_types().get(parts[1]) if parts else None
    numbers = [int(number) for number in parts[2].split(",")] if parts and parts[2] else []
    if found is None or len(numbers) != (len(fields(found)) if is_dataclass(found) else 0):
        known = ", ".join(type.notation or name for name, type in level_types().items())
        raise InputError(f"unknown level type {text!r}: use {known}")
    return found(*numbers)
