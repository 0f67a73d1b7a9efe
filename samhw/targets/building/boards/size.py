"""What a design takes of a part, and whether the part has it."""

from collections.abc import Mapping
from dataclasses import asdict
from math import ceil

from samhw.cost import Use
from samhw.errors import InputError
from samhw.graph import Arch, Design
from samhw.graph.address_map import AddressMap
from samhw.targets.boards.board import Board

__all__ = ["WORDS", "check_size", "least_use", "use_of"]

WORDS = {"luts": "LUTs", "registers": "registers", "block_rams": "block RAMs", "multipliers": "multipliers"}
"""What messages call what a part has."""

_LARGE = 1 << 15
"""Bits from which on a memory is surely made of block RAMs."""

_LEAST_TOKEN = 10
"""Bits of the smallest token: its kind, and a payload just wide enough for a stop."""


def least_use(board: Board, design: Design, arch: Arch) -> Use:
    """What a design takes at least, from the sizes of its tensors' memories and its channels alone: to make a
    netlist of millions of words takes longer than to see that they do not fit."""
    windows = AddressMap(design, arch).windows.values()
    bits = [window.memory.capacity * window.width for window in windows]
    bits += [channel.depth * _LEAST_TOKEN for _, channel in design.channels]
    blocks = ceil(sum(size for size in bits if size >= _LARGE) / board.family.block_bits)
    return Use(luts=0, registers=0, block_rams=blocks, multipliers=0)


def use_of(cells: Mapping[str, int]) -> Use:
    """What a design takes of an ECP5 at least, from how many cells of each kind Yosys makes of it.

    A carry cell is a slice, which is two LUTs. A memory of 16 words of 4 bits is three slices: two hold the
    bits, and of the third the inputs bring what is written, so that its LUTs serve nothing else.
    """
    luts = cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0) + 6 * cells.get("TRELLIS_DPR16X4", 0)
    return Use(luts, cells.get("TRELLIS_FF", 0), cells.get("DP16KD", 0), cells.get("MULT18X18D", 0))


def check_size(board: Board, name: str, use: Use) -> None:
    """Raises `InputError` if a design of that name does not fit the board's part."""
    needs = asdict(use)
    excess = [kind for kind, used in needs.items() if used > getattr(board.part, kind)]
    if excess:
        said = " and ".join(
            f"{needs[kind]:,} {WORDS[kind]}, of which the {board.part.name} has {getattr(board.part, kind):,}"
            for kind in excess
        )
        raise InputError(
            f"{name} needs at least {said}; give it smaller tensors (--data, --capacity) or fewer operations "
            "in hardware at a time, or take a larger board."
        )
