"""A board's top as a netlist, and what a design takes of a part, and whether the part has it."""

import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil, inf
from pathlib import Path
from typing import Any

from samhw.cost import Use
from samhw.errors import InputError
from samhw.graph import Arch, Design, OffChipLayout, Placement, SdramMemory, chip_bytes, dumps, layout_of
from samhw.graph.address_map import AddressMap
from samhw.rtl import Top
from samhw.rtl.link import bit_period
from samhw.rtl.sdram import CONTROLLER, controller_verilog, controller_version
from samhw.targets.boards.board import Board, BoardTop, find_board
from samhw.targets.building.build_cache import cached, digest
from samhw.targets.building.elaborate import generator_digest

__all__ = ["TOP", "WORDS", "BoardDesign", "check_size", "least_use", "use_of", "use_own_registers"]

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
        ways = f"or leave the rest to the board's SDRAM (--memory sdram, --on-chip {room >> 10}KB)"
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
            has_ddr3 = ("ddr3", 0) in self.board.platform().resources
            ddr3 = ", and nothing here calibrates the reads of its DDR3" if has_ddr3 else ""
            raise InputError(
                f"The board {self.board.name} has no SDRAM that samhw knows{ddr3}; leave out --memory, or "
                "take board:ulx3s."
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


# Registers that the blocks of an ECP5 have of their own.
#
# A block memory gives a word 5.8 ns after the clock, or 1 ns after it from the register at its output; a
# multiplier takes 3.9 ns, and then there is a wire to the register after it. Yosys uses the registers of
# neither, and makes them of the fabric. So they are put into the blocks afterwards, in the netlist that
# nextpnr reads.
#
# The register of a memory has an enable of its own (OCE), which is always on. Should the enable of the port
# (CE) stop it too, nothing would change: all that reads a tensor keeps its port enabled in the cycle after.


_Cell = dict[str, Any]
_Bit = int | str

_PLAIN = {"CEMUX": "1 ", "CLKMUX": "CLK", "REGSET": "RESET"}
"""What a register has that loads in every cycle and begins with 0, as those of the blocks do."""

_NO_RESET = (None, ["0"])

_WIDE = 36
"""Bits of a memory that has one port for reading, the second one, and uses the outputs of both."""


@dataclass(frozen=True)
class _Port:
    """Outputs of a block with a register after them."""

    outputs: Sequence[str]
    parameters: Mapping[str, str]
    """What switches the register on."""
    inputs: Mapping[str, Sequence[_Bit]]
    """What it needs besides the clock."""
    clock: Sequence[_Bit] | None = None
    """The clock of the port, if it has one without the register."""
    clock_input: str | None = None
    """Where the register's clock goes, if the port has none without it."""


def use_own_registers(netlist: Mapping[str, Any]) -> int:
    """Puts registers after block memories and multipliers into these, in place, and returns how many bits
    it found. All outputs that are used of a port must go to such registers and nowhere else.

    Args:
        netlist: Yosys' JSON, mapped to an ECP5 (`synth_ecp5`).
    """
    found = 0
    for module in netlist["modules"].values():
        cells = module["cells"]
        readers = _readers(module)
        for block in list(cells.values()):
            for port in _ports(block):
                if behind := _registers_behind(block, port, readers, cells):
                    _put_in(block, port, [(output, cells.pop(name)) for output, name in behind.items()])
                    found += len(behind)
    return found


def _ports(block: _Cell) -> Iterator[_Port]:
    connections = block["connections"]
    if block["type"] == "DP16KD":
        widths = [int(block["parameters"][f"DATA_WIDTH_{side}"], 2) for side in "AB"]
        # The mode of such a memory is that of both sides.
        for sides in ["AB"] if _WIDE in widths else ["A", "B"]:
            clocked = sides[-1]
            # A reset clears the register with the word before it, not a cycle later.
            reset = any(connections.get(f"RST{side}") not in _NO_RESET for side in sides)
            if block["parameters"][f"CLK{clocked}MUX"] == f"CLK{clocked}" and not reset:
                yield _Port(
                    outputs=_numbered(connections, [f"DO{side}" for side in sides]),
                    parameters={f"REGMODE_{side}": "OUTREG" for side in sides},
                    inputs={f"OCE{side}": ["1"] for side in sides},
                    clock=connections[f"CLK{clocked}"],
                )
    elif block["type"] == "MULT18X18D":
        yield _Port(
            outputs=_numbered(connections, ["P"]),
            parameters={f"REG_OUTPUT_{pin}": f"{pin}0" for pin in ("CLK", "CE", "RST")},
            inputs={"CE0": ["1"], "RST0": ["0"]},
            clock_input="CLK0",
        )


def _numbered(names: Iterable[str], prefixes: Sequence[str]) -> list[str]:
    return [name for name in names for prefix in prefixes if name.rstrip("0123456789") == prefix]


def _registers_behind(
    block: _Cell,
    port: _Port,
    readers: Mapping[_Bit, Sequence[tuple[str, str]]],
    cells: Mapping[str, _Cell],
) -> dict[str, str]:
    """The register after each output that is used, by the output's name; none if one of them has no such
    register, or they differ in their clock."""
    behind: dict[str, str] = {}
    clock = port.clock
    for output in port.outputs:
        (bit,) = block["connections"][output]
        match readers.get(bit, []):
            case []:
                continue
            case [(name, "DI")] if _is_plain(cells[name]):
                clock = clock or cells[name]["connections"]["CLK"]
                if cells[name]["connections"]["CLK"] != clock:
                    return {}
                behind[output] = name
            case _:
                return {}
    return behind


def _is_plain(cell: _Cell) -> bool:
    return (
        cell["type"] == "TRELLIS_FF"
        and all(cell["parameters"].get(name) == value for name, value in _PLAIN.items())
        and cell["connections"].get("LSR") in _NO_RESET
    )


def _put_in(block: _Cell, port: _Port, behind: Sequence[tuple[str, _Cell]]) -> None:
    inputs = dict(port.inputs)
    for output, register in behind:
        block["connections"][output] = register["connections"]["Q"]
        if port.clock_input:
            inputs[port.clock_input] = register["connections"]["CLK"]
    block["parameters"].update(port.parameters)
    block["connections"].update(inputs)
    block["port_directions"].update(dict.fromkeys(inputs, "input"))


def _readers(module: Mapping[str, Any]) -> Mapping[_Bit, list[tuple[str, str]]]:
    """Who reads each bit: cells and their ports, and the module's own."""
    readers = defaultdict(list)
    for name, cell in module["cells"].items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] != "output":
                for bit in bits:
                    readers[bit].append((name, port))
    for name, port in module["ports"].items():
        for bit in port["bits"]:
            readers[bit].append(("", name))
    return readers
