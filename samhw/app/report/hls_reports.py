"""What Vitis HLS reports of a project: its files, read as public projects and UG1399 show them.

Untested with Vitis: no report of it has been made for a project of samhw.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from xml.etree import ElementTree

from samhw.errors import InputError

__all__ = ["EXPECTED", "Report", "ReportedLoop", "ReportedModule", "read_reports"]

EXPECTED = "expected.json"
"""What a project has of the simulator and of its own text."""

_AREA = ("LUT", "FF", "DSP", "BRAM_18K", "URAM")


@dataclass(frozen=True)
class ReportedLoop:
    """A loop of a module: what it reached, None where the report has no number."""

    name: str
    interval: int | None
    stages: int | None


@dataclass(frozen=True)
class ReportedModule:
    """A function as a module.

    Attributes:
        latency: cycles at worst; None where they depend on data.
        period: the clock that it is estimated to need, ns.
        area: what it takes, by `LUT`, `FF`, `DSP`, `BRAM_18K` and `URAM`.
    """

    name: str
    latency: int | None
    period: float | None
    loops: tuple[ReportedLoop, ...]
    area: Mapping[str, int]


@dataclass(frozen=True)
class Report:
    """All reports of a project.

    Attributes:
        clock: the period that was asked for, ns.
        top: the kernel, with the area of the whole.
        available: the area of the device.
        cosim: the cycles of a cosimulation: its status, and least, average and greatest latency; None without
            one.
        implemented: of an implementation, the area and `period`; empty without one.
        expected: what the project's own file says (`cycles` of the simulator, `interval`, `stages`).
    """

    clock: float | None
    top: ReportedModule
    modules: tuple[ReportedModule, ...]
    available: Mapping[str, int]
    cosim: tuple[str, tuple[int | None, ...]] | None
    implemented: Mapping[str, float] = field(default_factory=dict)
    expected: Mapping[str, int] = field(default_factory=dict)


def read_reports(folder: Path) -> Report:
    """The reports below a folder: a project's, or that of its work directory.

    Raises:
        InputError: if there is no `csynth.xml`, or more than one, or a file is not what its name says.
    """
    found = _below(folder, "csynth.xml")
    if len(found) != 1:
        what = "no csynth.xml" if not found else f"{len(found)} files csynth.xml"
        raise InputError(
            f"{folder} has {what}; name the folder of one project after its synthesis (make xo)."
        )
    root = _xml(found[0])
    expected = folder / EXPECTED
    return Report(
        clock=_float(root.findtext("UserAssignments/TargetClockPeriod")),
        top=_module(root, root.findtext("UserAssignments/TopModelName") or folder.name),
        modules=tuple(
            _module(element, element.findtext("Name") or "")
            for element in root.iterfind("ModuleInformation/Module")
        ),
        available=_resources(root.find("AreaEstimates/AvailableResources")),
        cosim=next(filter(None, map(_cosim, _below(folder, "*_cosim.rpt"))), None),
        implemented=next(filter(None, map(_implemented, _exports(folder))), {}),
        expected=json.loads(expected.read_text(encoding="utf-8")) if expected.exists() else {},
    )


def _below(folder: Path, *patterns: str) -> list[Path]:
    """The files below a folder of such names, in order; without those of folders that cannot be read."""
    found = ((Path(place), name) for place, _, names in os.walk(folder) for name in names)
    return sorted(place / name for place, name in found if any(fnmatch(name, one) for one in patterns))


def _xml(path: Path) -> ElementTree.Element:
    try:
        return ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise InputError(f"{path} is no report of Vitis HLS ({error}); synthesise again.") from None


def _module(element: ElementTree.Element, name: str) -> ReportedModule:
    estimates = "PerformanceEstimates"
    loops = element.find(f"{estimates}/SummaryOfLoopLatency")
    return ReportedModule(
        name=name,
        latency=_int(element.findtext(f"{estimates}/SummaryOfOverallLatency/Worst-caseLatency")),
        period=_float(element.findtext(f"{estimates}/SummaryOfTimingAnalysis/EstimatedClockPeriod")),
        loops=tuple(_loops(loops)) if loops is not None else (),
        area=_resources(element.find("AreaEstimates/Resources")),
    )


def _loops(element: ElementTree.Element) -> Iterator[ReportedLoop]:
    """The loops of a summary, those inside of others among them."""
    for child in element:
        if child.find("Latency") is not None or child.find("PipelineII") is not None:
            name = child.findtext("Name") or child.tag
            yield ReportedLoop(
                name, _int(child.findtext("PipelineII")), _int(child.findtext("PipelineDepth"))
            )
            yield from _loops(child)


def _resources(element: ElementTree.Element | None) -> dict[str, int]:
    found = {name: _int(element.findtext(name)) for name in _AREA} if element is not None else {}
    return {name: count for name, count in found.items() if count is not None}


def _cosim(path: Path) -> tuple[str, tuple[int | None, ...]] | None:
    """The line of Verilog, or of VHDL, that says whether it passed and how long it took."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] in ("Verilog", "VHDL") and len(cells) >= 5 and cells[1] not in ("NA", ""):
            return cells[1], tuple(map(_int, cells[2:5]))
    return None


def _exports(folder: Path) -> list[Path]:
    return _below(folder, "*_export.xml", "export_impl.xml")


def _implemented(path: Path) -> dict[str, float]:
    root = _xml(path)
    period = _float(root.findtext("TimingReport/AchievedClockPeriod"))
    found: dict[str, float] = {**_resources(root.find("AreaReport/Resources"))}
    if (blocks := _int(root.findtext("AreaReport/Resources/BRAM"))) is not None:
        found["BRAM_18K"] = blocks
    return found | ({"period": period} if period is not None else {})


def _int(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\s*\d+\s*", text) else None


def _float(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\s*\d+(\.\d+)?\s*", text) else None
