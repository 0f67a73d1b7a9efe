"""Folders that are found, not listed: one for each idea of a kind, with its roles in files."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

__all__ = ["folders", "role"]


@cache
def folders(package: str) -> tuple[str, ...]:
    """The names of the folders of a package, in alphabetical order."""
    places = import_module(package).__path__
    inside = (path for place in places for path in Path(place).iterdir())
    return tuple(sorted(path.name for path in inside if path.is_dir() and path.name[0].isalpha()))


@cache
def role(package: str, folder: str, name: str) -> ModuleType | None:
    """The module with a role of a folder, loaded now; None if the folder has none of that name, or is none of
    the package's."""
    module = f"{package}.{folder}.{name}"
    return import_module(module) if folder in folders(package) and find_spec(module) else None
