"""Families of FPGAs: Yosys' command for each of them, and what its cells take."""

from collections.abc import Mapping
from dataclasses import astuple

from samhw.cost import Use
from samhw.targets.building.boards.bitstream import IN_BLOCKS
from samhw.targets.building.boards.netlist import use_of

__all__ = ["SYNTHESIS", "use_of_cells"]

SYNTHESIS = {
    "ecp5": f"hierarchy -top top; proc; {IN_BLOCKS}synth_ecp5",
    "ice40": "synth_ice40 -device u -dsp",
    "xc7": "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf",
    "xcup": "synth_xilinx -family xcup -flatten -noiopad -noclkbuf",
}
"""Yosys' command for each family of FPGAs."""


def use_of_cells(cells: Mapping[str, int], family: str) -> Use:
    """What Yosys' cells take, by their types. A `KeyError` names a type of which nothing is known."""
    if family == "ecp5":
        return Use(*astuple(use_of(cells)))
    return sum((_CELLS[kind].times(n) for kind, n in cells.items()), Use())


_CELLS = {
    "$scopeinfo": Use(),
    # Xilinx: pads and clocks, of which no count is kept.
    **dict.fromkeys(("IBUF", "OBUF", "OBUFT", "IOBUF", "BUFG", "BUFGCTRL", "PLLE2_BASE"), Use()),
    # Xilinx. Carries, multiplexers of LUTs and inverters come with the LUTs.
    **dict.fromkeys(("CARRY4", "CARRY8", "MUXF7", "MUXF8", "MUXF9", "INV"), Use()),
    **{f"LUT{n}": Use(luts=1) for n in range(1, 7)},
    **dict.fromkeys(("FDRE", "FDSE", "FDCE", "FDPE"), Use(registers=1)),
    "RAM32M": Use(luts=4),
    "RAM64M": Use(luts=4),
    "RAM32M16": Use(luts=8),
    "RAM64M8": Use(luts=8),
    "RAM32X1D": Use(luts=2),
    "RAM64X1D": Use(luts=2),
    "RAM128X1D": Use(luts=4),
    "RAM256X1D": Use(luts=8),
    "SRL16E": Use(luts=1),
    "SRLC32E": Use(luts=1),
    **dict.fromkeys(("RAMB18E1", "RAMB18E2"), Use(block_rams=0.5)),
    **dict.fromkeys(("RAMB36E1", "RAMB36E2"), Use(block_rams=1)),
    **dict.fromkeys(("DSP48E1", "DSP48E2"), Use(multipliers=1)),
    # iCE40. A carry lies beside the LUT that adds.
    "SB_CARRY": Use(),
    "SB_LUT4": Use(luts=1),
    **{
        f"SB_DFF{edge}{rest}": Use(registers=1)
        for edge in ("", "N")
        for rest in ("", "E", "SR", "R", "SS", "S", "ESR", "ER", "ESS", "ES")
    },
    **{f"SB_RAM40_4K{edges}": Use(block_rams=1) for edges in ("", "NR", "NW", "NRNW")},
    "SB_MAC16": Use(multipliers=1),
}
"""What Yosys' cells take of other FPGAs than an ECP5."""
