"""Programs in MLIR: linalg on tensors, sparse ones too."""

from samhw.importers.mlir.imported import ImportedFunction, choose_function, gives_tensors, import_function
from samhw.importers.mlir.interpret import TooLargeError, interpret
from samhw.importers.mlir.operation import MlirFunction, MlirModule
from samhw.importers.mlir.reader import read_module
from samhw.importers.mlir.shapes import FunctionInputs, inputs_of
from samhw.importers.mlir.whole_numbers import width_of, words_of_data
from samhw.importers.mlir.written import write_function

__all__ = [
    "FunctionInputs",
    "ImportedFunction",
    "MlirFunction",
    "MlirModule",
    "TooLargeError",
    "choose_function",
    "gives_tensors",
    "import_function",
    "inputs_of",
    "interpret",
    "read_module",
    "width_of",
    "words_of_data",
    "write_function",
]
