"""The primitives of docs/primitives.md: a folder for each kind, and for each actor that several kinds share.

What a folder has of a kind stands in its roles: `spec` (what it is), `model` (how it is simulated),
`component` (its RTL), `hls` and `template` (its C++). Each is loaded when it is asked for, so that a
simulation knows nothing of the RTL, nor the RTL of the model.
"""

from pathlib import Path
from types import ModuleType

from samhw import installed

__all__ = ["FOLDER", "folders", "role"]

FOLDER = Path(__file__).parent


def folders() -> tuple[str, ...]:
    """The names of the folders, in alphabetical order."""
    return installed.folders(__name__)


def role(folder: str, name: str) -> ModuleType | None:
    """The module with a role of a folder; None if it has none of that name."""
    return installed.role(__name__, folder, name)
