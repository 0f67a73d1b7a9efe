"""What boards are made of: families of FPGAs, and the tops that go onto them. The boards themselves are the
files of the folder `boards` beside the package, and users' own."""

from functools import cache
from pathlib import Path

from samhw.errors import InputError
from samhw.installed import installed
from samhw.words import did_you_mean

__all__ = ["CELLS", "SDRAM_MODEL", "board_file", "board_names", "is_board_file"]

CELLS = Path(__file__).parent / "cells"
"""Models of the cells of FPGAs and of what is beside them, in Verilog, for emulation."""
SDRAM_MODEL = CELLS / "sdram.v"


@cache
def _known() -> dict[str, Path]:
    """The files of the folder `boards` by name."""
    return {name.stem: path for name, path in installed("boards").items() if name.suffix == ".py"}


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
            f"There is no board '{name}'{did_you_mean(name, _known())}; choose one of {', '.join(_known())}, "
            "or give the path of a "
            "board's file, such as my_board.py (docs/boards.md)."
        )
    return _known()[name]
