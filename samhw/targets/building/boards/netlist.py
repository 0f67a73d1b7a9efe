"""What is configured into a board, before any tool has seen it."""

import importlib.metadata
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path

from samhw.errors import InputError
from samhw.graph import Arch, Design, dumps
from samhw.rtl import Top
from samhw.rtl.link import bit_period
from samhw.targets.boards.board import Board, BoardTop
from samhw.targets.boards.catalog import find_board
from samhw.targets.building.boards.size import check_size, least_use
from samhw.targets.building.cache import cached, digest
from samhw.targets.building.elaborate import generator_digest

__all__ = ["TOP", "BoardDesign"]

TOP = "top"
"""What the top is called, and the files begin with."""

_MOST_BAUD = 12_000_000
"""The fastest UARTs on USB have this many."""


@dataclass(frozen=True)
class BoardDesign:
    """A design on a board.

    Args:
        wanted_clock: frequency that is asked for, in Hz; None for the board's, or in a bitstream for the
            greatest that the design reaches.
        wanted_baud: of the link; None for the board's.

    Raises:
        InputError: for a clock that the board's PLL cannot make, or that is too slow for the baud rate, or a
            design that the RTL cannot be made for.
    """

    board: Board
    design: Design
    arch: Arch
    wanted_clock: float | None = None
    wanted_baud: int | None = None

    @classmethod
    def named(
        cls, board: str, design: Design, arch: Arch, period: float | None = None, baud: int | None = None
    ) -> "BoardDesign":
        """As users put it: the board by its name, and the clock by its period in ns.

        Raises `InputError` also for a board that is not there, and for a design whose memories alone are too
        large for it.
        """
        if period is not None and not 0 < period < inf:
            raise InputError(f"A clock cannot have a period of {period:g} ns; give --clock a positive one.")
        if baud is not None and not 0 < baud <= _MOST_BAUD:
            raise InputError(f"A UART cannot have {baud:,} baud; give --baud 1 to {_MOST_BAUD:,}.")
        found = cls(find_board(board), design, arch, None if period is None else 1e9 / period, baud)
        bit_period(found.clock, found.baud)
        check_size(found.board, design.name, least_use(found.board, design, arch))
        return found

    @property
    def baud(self) -> int:
        """Of the link."""
        return self.wanted_baud or self.board.baud

    @cached_property
    def clock(self) -> float:
        """Frequency of the netlist, in Hz."""
        return self.board.frequency(self.wanted_clock or self.board.clock)

    @cached_property
    def key(self) -> str:
        """A hash of all that the netlist follows from, but for its clock."""
        pins = importlib.metadata.version("amaranth-boards")
        board = self.board.file.read_bytes()
        design, arch = dumps(self.design), self.arch.dumps()
        return digest(generator_digest("targets/boards"), pins, board, repr(self.baud), design, arch)

    @property
    def build(self) -> int:
        """What the link says of the build (docs/link.md)."""
        return int(self.key[:8], 16)

    @property
    def pins(self) -> dict[str, str]:
        """The ports of the top: of the clock, and of the UART."""
        clock = self.board.platform().default_clk
        return {"clk": f"{clock}_0__io", "rx": "uart_0__rx__io", "tx": "uart_0__tx__io"}

    def netlist(self, *, verilog: bool = False) -> Path:
        """The folder with what Amaranth makes for the board's tools: the top, its constraints, and scripts.

        Args:
            verilog: also the top as `top.debug.v`, for emulation.
        """

        def make(folder: Path) -> None:
            top = BoardTop(
                self.board,
                Top(self.design, self.arch),
                clock=self.clock,
                baud=self.baud,
                build=self.build,
            )
            plan = self.board.platform().prepare(top, TOP, emit_src=False, debug_verilog=verilog)
            for name, content in plan.files.items():
                data = content.encode() if isinstance(content, str) else content
                (folder / name).write_bytes(data)

        return cached("emulated" if verilog else "netlist", digest(self.key, repr(self.clock)), make)
