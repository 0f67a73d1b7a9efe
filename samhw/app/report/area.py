"""What a design is expected to take of FPGAs, as a table for terminals and pages."""

from collections.abc import Sequence
from dataclasses import asdict

from samhw.compiler import Compiled
from samhw.cost import SHOWN_DEVICES, AreaEstimate, Device, estimate_area

__all__ = ["FAMILY_NAMES", "Areas", "device_grid", "shown_areas"]

Areas = Sequence[tuple[Device, AreaEstimate]]
"""FPGAs, each with what a design is expected to take of it."""

FAMILY_NAMES = {"ecp5": "ECP5", "ice40": "iCE40", "xc7": "Xilinx 7", "xcup": "UltraScale+"}
"""Families of FPGAs, as people call them."""


def shown_areas(compiled: Compiled) -> Areas:
    """What a design takes of an FPGA of each family."""
    return [
        (device, estimate_area(compiled.design, compiled.arch, device.family)) for device in SHOWN_DEVICES
    ]


def device_grid(areas: Areas) -> list[list[str]]:
    """Rows of a table, of which the first has the headings: figures, with percent of what the FPGA has."""
    grid = [["FPGA", "family", "LUTs", "registers", "block RAMs", "multipliers"]]
    for device, area in areas:
        shares = device.shares(area.use)
        cells = [f"{figure:,.0f} ({100 * shares[name]:,.0f} %)" for name, figure in asdict(area.use).items()]
        grid.append([device.name, FAMILY_NAMES[device.family], *cells])
    return grid
