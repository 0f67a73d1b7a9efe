"""Whether a run is right and what it takes, beside the reference, other schedules, or the RTL."""

from samhw.app.checking.accuracy import Difference, differences
from samhw.app.checking.check import Check, Verdict, check, weakest
from samhw.app.checking.compare import Known, Outcome, compare
from samhw.app.checking.correlate import Correlation, correlate
from samhw.app.checking.measure import Measure, measure

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
