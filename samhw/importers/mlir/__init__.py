"""Programs in MLIR: linalg on tensors, sparse ones too."""

from samhw.importers.mlir.equal_extents import FunctionInputs, inputs_of
from samhw.importers.mlir.file_function import (
    ImportedFunction,
    choose_function,
    gives_tensors,
    import_function,
)
from samhw.importers.mlir.interpret import TooLargeError, interpret
from samhw.importers.mlir.operation import MlirFunction, MlirModule
from samhw.importers.mlir.program_as_mlir import write_function
from samhw.importers.mlir.reader import read_module
from samhw.importers.mlir.whole_numbers import width_of, words_of_data

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
