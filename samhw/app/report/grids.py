"""Results as texts by rows, which the command line prints and pages show: what a design is expected to take
of FPGAs, simulator and RTL side by side, and what a search has tried."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any

from samhw.app.checking import Verdict
from samhw.app.checking.types_search import TunedTypes
from samhw.app.sweep.tuning import Trial, Tuned
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, area_of
from samhw.cost import FITS, NO_FIT, SHOWN_DEVICES, AreaEstimate, Device
from samhw.targets.backends import find_backend

__all__ = [
    "FAMILY_NAMES",
    "Areas",
    "by_cycles",
    "correlation_grid",
    "device_grid",
    "fit_words",
    "furthest",
    "shown_areas",
    "tuned_grid",
    "types_grid",
]


def by_cycles(tuned: Tuned) -> list[Trial]:
    """The trials, the fastest first; of equal ones the smallest."""
    return sorted(tuned.trials, key=lambda trial: (trial.cycles, trial.found.luts))


def tuned_grid(tuned: Tuned) -> list[list[str]]:
    """Headings, and a row for each trial of `by_cycles`."""
    on_front = f"front of {tuned.bought}"
    rows = [["cycles", "expected", "LUTs", "nJ", "regions", on_front, "result", "schedule"]]
    front = tuned.front
    labels = _differences([trial.found.schedule for trial in tuned.trials])
    for trial in by_cycles(tuned):
        found = trial.found
        marks = [
            "written" if trial is tuned.written else "",
            "best" if trial is tuned.best else "",
            labels[found.schedule],
        ]
        rows.append(
            [
                f"{trial.cycles:,}",
                f"{found.cycles:,.0f}",
                f"{found.luts:,.0f}",
                f"{trial.energy / 1e3:,.1f}",
                str(found.regions),
                "yes" if trial in front else "",
                trial.result,
                ", ".join(filter(None, marks)),
            ]
        )
    return rows


def types_grid(tuned: TunedTypes) -> list[list[str]]:
    """Headings, and a row for each choice of types that was judged, the smallest error first."""
    rows = [["error", "proven", "LUTs", "bytes", "cycles", "front", "types"]]
    for point in sorted(tuned.points, key=lambda one: (one.error, one.price(tuned.objective))):
        marks = [
            point.said,
            "best" if point is tuned.best else "",
            "too large an error" if point.error > tuned.limit else "",
        ]
        most = f"at most {point.most:.2g}" if point.most < inf else ""
        proven = f"at least {point.least:.2g}" if point.least > tuned.limit else most
        figures = (f"{number:,.0f}" for number in (point.luts, point.bytes, point.cycles))
        error = "" if point.measured is None else f"{point.measured:.2g}"
        front = "yes" if point in tuned.front else ""
        rows.append([error, proven, *figures, front, ", ".join(filter(None, marks))])
    return rows


def _differences(schedules: Sequence[Schedule]) -> dict[Schedule, str]:
    """Of each schedule its regions, and what else not all of them have."""
    flat = []
    for schedule in schedules:
        fields: dict[str, str] = {}
        for name, value in schedule.to_json().items():
            entries = value if isinstance(value, Mapping) else {}
            fields |= {f"{name} {entry}": _said(inner) for entry, inner in entries.items()}
            if not isinstance(value, Mapping):
                fields[name] = _said(value)
        flat.append(fields)
    names = dict.fromkeys(name for fields in flat for name in fields)
    differ = [n for n in names if n != "fuse" and len({fields.get(n) for fields in flat}) > 1]
    return {
        schedule: "; ".join([fields.get("fuse", ""), *(f"{n} {fields[n]}" for n in differ if n in fields)])
        for schedule, fields in zip(schedules, flat, strict=True)
    }


def _said(value: object) -> str:
    """A value of a schedule: regions as `T1+U1,T2`."""
    if not isinstance(value, list):
        return str(value)
    return ",".join("+".join(one) if isinstance(one, list) else str(one) for one in value)


def correlation_grid(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Headings, and a row for each of the `kernels` of `Correlation.to_json`."""
    others = list(rows[0].get("others", {})) if rows else []
    titles = [f"{find_backend(name).label} cycles" for name in others]
    grid = [["program", "data", "value", "model cycles", "RTL cycles", *titles, "difference", "results"]]
    for row in rows:
        model, hardware = row["model_cycles"], [row["rtl_cycles"], *(row["others"][name] for name in others)]
        words = Verdict(row["result"]).in_words(row["unproved"])
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
