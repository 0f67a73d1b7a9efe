"""The primitives of docs/primitives.md: a folder for each kind, and for each actor that several kinds share.

What a folder has of a kind stands in its roles: `spec` (what it is), `model` (how it is simulated),
`component` (its RTL), `hls` and `template` (its C++). Each is loaded when it is asked for, so that a
simulation knows nothing of the RTL, nor the RTL of the model.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

__all__ = ["FOLDER", "folders", "role"]

FOLDER = Path(__file__).parent


@cache
def folders() -> tuple[str, ...]:
    """The names of the folders, in alphabetical order."""
    return tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and path.name[0].isalpha()))


@cache
def role(folder: str, name: str) -> ModuleType | None:
    """The module with a role of a folder; None if it has none of that name."""
    module = f"{__name__}.{folder}.{name}"
    return import_module(module) if folder in folders() and find_spec(module) else None
