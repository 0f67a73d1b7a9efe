"""A board's top as a netlist, and what a design takes of a part, and whether the part has it."""

import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil, inf
from pathlib import Path

from samhw.cost import Use
from samhw.errors import InputError
from samhw.graph import (
    Arch,
    Design,
    OffChipLayout,
    Placement,
    SdramMemory,
    chip_bytes,
    dumps,
    layout_of,
)
from samhw.graph.address_map import AddressMap
from samhw.rtl import Top
from samhw.rtl.link import bit_period
from samhw.rtl.sdram import CONTROLLER, controller_verilog, controller_version
from samhw.targets.boards.board import Board, BoardTop, find_board
from samhw.targets.building.build_cache import cached, digest
from samhw.targets.building.elaborate import generator_digest

__all__ = ["TOP", "WORDS", "BoardDesign", "check_size", "least_use", "use_of"]

WORDS = {"luts": "LUTs", "registers": "registers", "block_rams": "block RAMs", "multipliers": "multipliers"}
"""What messages call what a part has."""

_LARGE = 1 << 15
"""Bits from which on a memory is surely made of block RAMs."""

_LEAST_TOKEN = 10
"""Bits of the smallest token: its kind, and a payload just wide enough for a stop."""


def least_use(board: Board, design: Design, arch: Arch, layout: OffChipLayout | None = None) -> Use:
    """What a design takes at least, from the sizes of its tensors' memories and its channels alone: to make a
    netlist of millions of words takes longer than to see that they do not fit."""
    windows = AddressMap(design, arch, layout=layout).windows.values()
    bits = [window.memory.capacity * window.width for window in windows]
    bits += [channel.depth * _LEAST_TOKEN for _, channel in design.built_channels]
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


def _check_memories(board: Board, design: Design, arch: Arch) -> None:
    """As `check_size`, of the memories alone; says which of them fit, and how the design runs all the
    same."""
    use = least_use(board, design, arch)
    # Words of 32 bits lie in block memories without their parity, a ninth of the bits.
    room = board.part.block_rams * board.family.block_bits // 9
    sizes = chip_bytes(design, arch)
    off = Placement(room=room).off_chip(design, sizes)
    if use.block_rams <= board.part.block_rams or not off:
        check_size(board, design.name, use)
        return
    largest = ", ".join(sorted(off, key=lambda name: (-sizes[name], name)))
    rest = f"with the rest in a memory (samhw run --memory ddr4 --on-chip {room >> 10}KB)"
    ways = f"take a larger board, or run it in the simulator or under Verilator, {rest}"
    if board.sdram is not None:
        ways = f"or leave the rest to the board's SDRAM (--memory sdram --on-chip {room >> 10}KB)"
    beside = ", ".join(name for name in sizes if name not in off) or "anything"
    raise InputError(
        f"{design.name} needs at least {use.block_rams:,} block RAMs, of which the {board.part.name} has "
        f"{board.part.block_rams:,}: {largest} would not fit beside {beside}; give it smaller tensors "
        f"(--data, --capacity), {ways}."
    )


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
        memory: the board's SDRAM, if arrays lie there.
        off_chip: the arrays that lie there; None for all.

    Raises:
        InputError: for a clock that the board's PLL cannot make, or that is too slow for the baud rate, or a
            design that the RTL cannot be made for; for an SDRAM that the board does not have.
    """

    board: Board
    design: Design
    arch: Arch
    wanted_clock: float | None = None
    wanted_baud: int | None = None
    memory: SdramMemory | None = None
    off_chip: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and self.board.sdram is None:
            raise InputError(
                f"The board {self.board.name} has no SDRAM that samhw knows; leave out --memory."
            )

    @classmethod
    def named(
        cls,
        board: str,
        design: Design,
        arch: Arch,
        period: float | None = None,
        baud: int | None = None,
        memory: SdramMemory | None = None,
        off_chip: tuple[str, ...] | None = None,
    ) -> "BoardDesign":
        """As users put it: the board by its name, and the clock by its period in ns.

        Raises `InputError` also for a board that is not there, and for a design whose memories alone are too
        large for it.
        """
        if period is not None and not 0 < period < inf:
            raise InputError(f"A clock cannot have a period of {period:g} ns; give --clock a positive one.")
        if baud is not None and not 0 < baud <= _MOST_BAUD:
            raise InputError(f"A UART cannot have {baud:,} baud; give --baud 1 to {_MOST_BAUD:,}.")
        wanted = None if period is None else 1e9 / period
        found = cls(find_board(board), design, arch, wanted, baud, memory, off_chip)
        bit_period(found.clock, found.baud)
        if found.layout is None:
            _check_memories(found.board, design, arch)
        else:
            check_size(found.board, design.name, least_use(found.board, design, arch, found.layout))
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
    def layout(self) -> OffChipLayout | None:
        """What lies in the SDRAM, whose clock is the netlist's."""
        if self.memory is None or self.board.sdram is None:
            return None
        chip = replace(self.board.sdram, cycle_ps=round(1e12 / self.clock))
        arrays = None if self.off_chip is None else dict.fromkeys(self.off_chip, 0)
        return layout_of(self.design, self.arch, replace(self.memory, chip=chip), arrays)

    @cached_property
    def key(self) -> str:
        """A hash of all that the netlist follows from, but for its clock."""
        pins = importlib.metadata.version("amaranth-boards")
        board = self.board.file.read_bytes()
        design, arch = dumps(self.design), self.arch.dumps()
        placed = []
        if self.layout is not None:
            placed = [json.dumps(self.layout.to_json()), controller_version()]
        return digest(generator_digest("targets/boards"), pins, board, repr(self.baud), design, arch, *placed)

    @property
    def build(self) -> int:
        """What the link says of the build (docs/link.md)."""
        return int(self.key[:8], 16)

    @property
    def controller(self) -> str:
        """Verilog of the SDRAM's controller, which the top lacks; nothing without one."""
        layout = self.layout
        return "" if layout is None or layout.chip is None else controller_verilog(layout.chip)

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
                Top(self.design, self.arch, layout=self.layout),
                clock=self.clock,
                baud=self.baud,
                build=self.build,
                observed=verilog,
            )
            platform = self.board.platform()
            if self.controller:
                platform.add_file(f"{CONTROLLER}.v", self.controller)
            plan = platform.prepare(top, TOP, emit_src=False, debug_verilog=verilog)
            for name, content in plan.files.items():
                data = content.encode() if isinstance(content, str) else content
                (folder / name).write_bytes(data)

        return cached("emulated" if verilog else "netlist", digest(self.key, repr(self.clock)), make)
