"""Whether a run is right and what it takes, beside the reference, other schedules, or the RTL."""

from samhw.checking.accuracy import Difference, differences
from samhw.checking.check import Check, check
from samhw.checking.compare import Known, Outcome, compare
from samhw.checking.correlate import Correlation, correlate
from samhw.checking.measure import Measure, measure
from samhw.checking.verdict import Verdict, weakest

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
