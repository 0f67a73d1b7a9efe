"""What becomes of a compiled program: runs on data, builds on disk, comparisons of backends."""

from samhw.targets.backends import RegionRun, RunResult, off_chip_tensors
from samhw.targets.build import DERIVED, build
from samhw.targets.check import Check, check
from samhw.targets.compare import Known, Outcome, compare
from samhw.targets.correlate import Correlation, correlate
from samhw.targets.measure import Measure, measure
from samhw.targets.memory import memory_line, memory_report, port_rows
from samhw.targets.run import run

__all__ = [
    "DERIVED",
    "Check",
    "Correlation",
    "Known",
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
    "off_chip_tensors",
    "port_rows",
    "run",
]
