"""Programs and arrays in, results out: the Python interface."""

from samhw.app.api.arguments import Data, as_tensor, natural_format
from samhw.app.api.design_result import DesignResult, Drawing, PageView, Tables
from samhw.app.api.from_program import compile, load
from samhw.app.api.measure_accuracy import accuracy
from samhw.app.api.runnable import RunnableDesign

__all__ = [
    "Data",
    "DesignResult",
    "Drawing",
    "PageView",
    "RunnableDesign",
    "Tables",
    "accuracy",
    "as_tensor",
    "compile",
    "load",
    "natural_format",
]
