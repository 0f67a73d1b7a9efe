"""Programs and arrays in, results out: the Python interface."""

from samhw.api.data import Data, as_tensor, natural_format
from samhw.api.design import RunnableDesign
from samhw.api.drawing import Drawing
from samhw.api.from_program import compile, load
from samhw.api.measure_accuracy import accuracy
from samhw.api.result import DesignResult

__all__ = [
    "Data",
    "DesignResult",
    "Drawing",
    "RunnableDesign",
    "accuracy",
    "as_tensor",
    "compile",
    "load",
    "natural_format",
]
