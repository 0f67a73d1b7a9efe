"""What becomes of a compiled program: runs on data, builds on disk, comparisons of backends."""

from samhw.targets.build import build
from samhw.targets.compare import Choice, Outcome, compare
from samhw.targets.correlate import Correlation, correlate
from samhw.targets.measure import Measure, measure
from samhw.targets.memory import memory_line, memory_report, port_rows
from samhw.targets.run import Check, RegionRun, RunResult, check, compile_workload, run
from samhw.targets.workload import DEFAULT, Workload, bind_program, make_model_workload, make_workload

__all__ = [
    "DEFAULT",
    "Check",
    "Choice",
    "Correlation",
    "Measure",
    "Outcome",
    "RegionRun",
    "RunResult",
    "Workload",
    "bind_program",
    "build",
    "check",
    "compare",
    "compile_workload",
    "correlate",
    "make_model_workload",
    "make_workload",
    "measure",
    "memory_line",
    "memory_report",
    "port_rows",
    "run",
]
