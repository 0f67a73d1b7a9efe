"""Boards from their files."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from samhw.errors import InputError
from samhw.script import Script
from samhw.targets.boards.board import Board
from samhw.targets.boards.files import board_file

__all__ = ["find_board", "read_board"]


def find_board(name: str) -> Board:
    """The board of a name, or of a user's own file.

    Raises `InputError` if there is none, and for a file that does not describe one.
    """
    return read_board(board_file(name).resolve())


@cache
def read_board(path: Path) -> Board:
    """The `BOARD` that a file describes. The file is run (`Script`).

    Raises `InputError` as `find_board` does.
    """
    found = Script(str(path)).objects().get("BOARD")
    if not isinstance(found, Board):
        raise InputError(
            f"The file {path} describes no board; give it a line BOARD = Board(..), as boards/ulx3s.py has."
        )
    return replace(found, file=path)
