"""Programs and arrays in, results out: the Python interface."""

from samhw.api.data import Data, as_tensor, natural_format
from samhw.api.design import RunnableDesign
from samhw.api.drawing import Drawing
from samhw.api.from_program import compile, load
from samhw.api.measure_accuracy import accuracy
from samhw.api.result import DesignResult
from samhw.api.views import PageView, Tables

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
