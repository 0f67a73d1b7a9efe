"""Results as texts by rows, which the command line prints and pages show: what a design is expected to take
of FPGAs, and simulator and RTL side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from samhw.app.checking import Verdict
from samhw.compiler import Compiled, area_of
from samhw.cost import FITS, NO_FIT, SHOWN_DEVICES, AreaEstimate, Device
from samhw.targets.backends import find_backend

__all__ = [
    "FAMILY_NAMES",
    "Areas",
    "correlation_grid",
    "device_grid",
    "fit_words",
    "furthest",
    "shown_areas",
]


def correlation_grid(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Headings, and a row for each of the `kernels` of `Correlation.to_json`."""
    others = list(rows[0].get("others", {})) if rows else []
    titles = [f"{find_backend(name).label} cycles" for name in others]
    grid = [["program", "data", "value", "model cycles", "RTL cycles", *titles, "difference", "status"]]
    for row in rows:
        model, hardware = row["model_cycles"], [row["rtl_cycles"], *(row["others"][name] for name in others)]
        words = Verdict(row["status"]).in_words(row["unproved"])
        cycles = [f"{count:,}" for count in (model, *hardware)]
        grid.append([row["name"], row["data"], row["value"], *cycles, str(furthest(row)), words])
    return grid


def furthest(row: Mapping[str, Any]) -> int:
    """The difference from the model's cycles of the simulator of the RTL that is furthest off; 0 if all are
    equal."""
    model: int = row["model_cycles"]
    hardware: list[int] = [row["rtl_cycles"], *row.get("others", {}).values()]
    return max((count - model for count in hardware), key=abs)


Areas = Sequence[tuple[Device, AreaEstimate]]
"""FPGAs, each with what a design is expected to take of it."""

FAMILY_NAMES = {"ecp5": "ECP5", "ice40": "iCE40", "xc7": "Xilinx 7", "xcup": "UltraScale+"}
"""Families of FPGAs, as people call them."""


def shown_areas(compiled: Compiled, devices: Sequence[Device] = SHOWN_DEVICES) -> Areas:
    """What a design takes of FPGAs, by default of one of each family."""
    return [(device, area_of(compiled, device.family)) for device in devices]


def fit_words(areas: Areas) -> str:
    """Which FPGAs a design fits, as expected, and what the others lack."""
    verdicts = {device.name: device.verdict(area.use) for device, area in areas}
    fitting = [name for name, said in verdicts.items() if said == FITS]
    lacking = [
        f"{name} ({said.partition(': ')[2].partition(', ')[0]})"
        for name, said in verdicts.items()
        if said != FITS
    ]
    words = [f"fits {', '.join(fitting)}"] if fitting else []
    return "; ".join([*words, f"{NO_FIT} {', '.join(lacking)}"] if lacking else words)


def device_grid(areas: Areas) -> list[list[str]]:
    """Rows of a table, of which the first has the headings: figures, with percent of what the FPGA has, and
    whether that is enough."""
    grid = [["FPGA", "family", "LUTs", "registers", "block RAMs", "multipliers", "verdict"]]
    for device, area in areas:
        shares = device.shares(area.use)
        cells = [f"{figure:,.0f} ({100 * shares[name]:,.0f} %)" for name, figure in asdict(area.use).items()]
        verdict = device.verdict(area.use).partition(":")[0]
        grid.append([device.name, FAMILY_NAMES[device.family], *cells, verdict])
    return grid
