"""What is found in an installation, not listed: folders of a package, one for each idea of a kind, with its
roles in files; and beside the package boards, examples and documents. This module imports nothing of
samhw."""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from types import ModuleType

__all__ = ["folders", "installed", "role"]

_SHARE = ("share", "samhw")
"""Where a wheel puts folders of the repository, below the environment's own (pyproject.toml, data-files)."""


def installed(folder: str) -> dict[PurePosixPath, Path]:
    """The files of a folder of the repository, by their paths below it, in order: of the checkout, or where
    pip has put them."""
    root = Path(__file__).parents[1]
    if (root / "pyproject.toml").is_file():  # Elsewhere a folder of that name is somebody else's.
        found = {path.relative_to(root / folder): path for path in (root / folder).rglob("*")}
    else:
        from importlib.metadata import files as files_of  # It takes long to load.

        found = {
            Path(*file.parts[file.parts.index(_SHARE[0]) + 3 :]): Path(str(file.locate()))
            for file in files_of("samhw") or []
            if _below(file, folder)
        }
    files = {PurePosixPath(name): path for name, path in sorted(found.items()) if path.is_file()}
    return {name: path for name, path in files.items() if "__pycache__" not in name.parts}


def _below(file: PurePosixPath, folder: str) -> bool:
    """Whether a wheel's file is of such a folder."""
    parts = file.parts
    return _SHARE[0] in parts and parts[parts.index(_SHARE[0]) :][:3] == (*_SHARE, folder)


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
