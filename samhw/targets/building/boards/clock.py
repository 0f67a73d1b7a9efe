"""Gives a design that is placed and routed another clock, without placing it again: what depends on the clock
are the settings of the PLL and the length of a bit on the line, which are numbers in the bitstream."""

import re
from collections.abc import Iterator

from samhw.rtl.link import ROM_WIDTH, bit_period, rom_contents
from samhw.targets.boards.board import Board
from samhw.targets.boards.ecp5 import pll_words

__all__ = ["with_clock"]

_NINE = 9
"""Bits of a word in the text of a block memory, of which a line has eight."""


def with_clock(text: str, board: Board, baud: int, before: float, after: float) -> str:
    """The text of a bitstream (of Project Trellis, as nextpnr writes it) with another clock.

    Args:
        before, after: frequencies in Hz that the PLL makes.

    Raises:
        InputError: if the clock cannot serve the baud rate.
    """
    source = board.input_clock
    old, new = (pll_words(board.family.settings(source, clock)) for clock in (before, after))
    for name in old:
        text = _replaced(text, f"word: {name} {old[name]}\n", f"word: {name} {new[name]}\n")
    memories = ("".join(_memory_text(bit_period(clock, baud))) for clock in (before, after))
    return _replaced(text, *memories)


def _replaced(text: str, old: str, new: str) -> str:
    """Raises `AssertionError` unless `old` is there once: the tools write another text than they did."""
    places = len(re.findall(f"^{re.escape(old)}", text, re.MULTILINE))
    assert places == 1, f"{places} places in the bitstream for {old[:40]!r}"
    return text.replace(old, new)


def _memory_text(period: int) -> Iterator[str]:
    """The lines of the memory with the settings."""
    parts = [
        word >> low & (1 << _NINE) - 1 for word in rom_contents(period) for low in range(0, ROM_WIDTH, _NINE)
    ]
    for at in range(0, len(parts), 8):
        yield " ".join(f"{part:03x}" for part in parts[at : at + 8]) + "\n"
