"""Whether a run is right and what it takes, beside the reference, other schedules, or the RTL."""

from samhw.app.checking.check_run import Check, Verdict, check, weakest
from samhw.app.checking.measure import Known, Measure, Outcome, compare, measure
from samhw.app.checking.model_and_rtl import Correlation, correlate
from samhw.app.checking.value_errors import Difference, differences

__all__ = [
    "Check",
    "Correlation",
    "Difference",
    "Known",
    "Measure",
    "Outcome",
    "Verdict",
    "check",
    "compare",
    "correlate",
    "differences",
    "measure",
    "weakest",
]
