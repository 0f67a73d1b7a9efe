"""The boards by name."""

from samhw.boards.arty_a7 import ARTY_A7
from samhw.boards.board import Board
from samhw.boards.ecpix5 import ECPIX5
from samhw.boards.ulx3s import ULX3S
from samhw.errors import InputError

__all__ = ["CATALOG", "find_board"]

CATALOG = {board.name: board for board in (ULX3S, ECPIX5, ARTY_A7)}
"""All boards, in the order of `samhw.boards.BOARDS`."""


def find_board(name: str) -> Board:
    """The board of a name; raises `InputError` if there is none."""
    if name not in CATALOG:
        raise InputError(f"There is no board '{name}'; choose one of {', '.join(CATALOG)}.")
    return CATALOG[name]
