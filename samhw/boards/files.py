"""The files of boards: those of the folder `boards` beside the package, and users' own."""

import importlib.metadata
from functools import cache
from pathlib import Path

from samhw.errors import InputError

__all__ = ["board_file", "board_names", "is_board_file"]

_INSTALLED = ("share", "samhw", "boards")
"""Where a wheel puts the folder, below the environment's own (pyproject.toml, data-files)."""


@cache
def _known() -> dict[str, Path]:
    """The files of the folder `boards` by name: of the checkout, or of what pip has installed."""
    root = Path(__file__).parents[2]
    if (root / "pyproject.toml").is_file():  # Elsewhere a folder of that name is somebody else's.
        found = list((root / "boards").glob("*.py"))
    else:
        files = importlib.metadata.files("samhw") or []
        found = [Path(str(f.locate())) for f in files if f.parts[-4:-1] == _INSTALLED and f.suffix == ".py"]
    return {path.stem: path for path in sorted(found)}


def board_names() -> tuple[str, ...]:
    """The boards of the folder `boards`, each by the name of its file."""
    return tuple(_known())


def is_board_file(name: str) -> bool:
    """Whether what somebody calls a board is a file of his own, and not one of `board_names`."""
    return name.endswith(".py")


def board_file(name: str) -> Path:
    """The file of a board: one of `board_names`, or the path of a user's own.

    Raises `InputError` if there is none.
    """
    if is_board_file(name):
        path = Path(name).expanduser()
        if not path.is_file():
            raise InputError(f"There is no file {name}; give the path of a board's file (docs/boards.md).")
        return path
    if name not in _known():
        raise InputError(
            f"There is no board '{name}'; choose one of {', '.join(_known())}, or give the path of a "
            "board's file, such as my_board.py (docs/boards.md)."
        )
    return _known()[name]
