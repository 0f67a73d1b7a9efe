"""What becomes of a compiled program: runs on data, builds on disk, comparisons of backends."""

from samhw.targets.build import build
from samhw.targets.check import Check, check
from samhw.targets.compare import Choice, Outcome, compare
from samhw.targets.correlate import Correlation, correlate
from samhw.targets.measure import Measure, measure
from samhw.targets.memory import memory_line, memory_report, port_rows
from samhw.targets.run import RegionRun, RunResult, run

__all__ = [
    "Check",
    "Choice",
    "Correlation",
    "Measure",
    "Outcome",
    "RegionRun",
    "RunResult",
    "build",
    "check",
    "compare",
    "correlate",
    "measure",
    "memory_line",
    "memory_report",
    "port_rows",
    "run",
]
