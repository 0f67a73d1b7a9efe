"""What becomes of a compiled program: runs on data, builds on disk, comparisons of backends."""

from samhw.targets.backends import MODEL, Backend, RegionRun, RunResult, off_chip_tensors
from samhw.targets.build import DERIVED, build
from samhw.targets.check import Check, check
from samhw.targets.compare import Known, Outcome, compare
from samhw.targets.correlate import Correlation, correlate
from samhw.targets.measure import Measure, measure
from samhw.targets.memory import memory_line, memory_report, port_rows
from samhw.targets.run import check_options, run
from samhw.targets.verdict import Verdict, weakest

__all__ = [
    "DERIVED",
    "MODEL",
    "Backend",
    "Check",
    "Correlation",
    "Known",
    "Measure",
    "Outcome",
    "RegionRun",
    "RunResult",
    "Verdict",
    "build",
    "check",
    "check_options",
    "compare",
    "correlate",
    "measure",
    "memory_line",
    "memory_report",
    "off_chip_tensors",
    "port_rows",
    "run",
    "weakest",
]
