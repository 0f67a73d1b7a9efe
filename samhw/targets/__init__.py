"""What becomes of a compiled program: runs on data, builds on disk, comparisons of backends."""

from samhw.targets.build import build
from samhw.targets.correlate import Correlation, correlate
from samhw.targets.run import Check, RunResult, check, compile_workload, run
from samhw.targets.workload import Workload, make_workload

__all__ = [
    "Check",
    "Correlation",
    "RunResult",
    "Workload",
    "build",
    "check",
    "compile_workload",
    "correlate",
    "make_workload",
    "run",
]
