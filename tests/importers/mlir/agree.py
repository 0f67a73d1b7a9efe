"""Functions in MLIR, run and compared with what NumPy makes of the same arguments."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.app.checking import check
from samhw.app.workload import compile_workload
from samhw.app.workload.mlir import workload_of
from samhw.importers.core import HostArray
from samhw.importers.mlir import ImportedFunction, choose_function, import_function, read_module
from samhw.lang import Program, dumps, parse
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import MODEL, run

Arrays = Mapping[str, npt.NDArray[Any]]


def imported(text: str, arrays: Arrays, name: str | None = None) -> ImportedFunction:
    """A function of a text, for these arguments."""
    module = read_module(text, "t.mlir")
    held = {key: HostArray.dense(np.asarray(array)) for key, array in arrays.items()}
    return import_function(module, choose_function(module, name), held)


def outputs(text: str, arrays: Arrays, name: str | None = None) -> list[npt.NDArray[np.float64]]:
    """What the program of a function gives for these arguments."""
    found = imported(text, arrays, name)
    held = {key: HostArray.dense(np.asarray(array)) for key, array in arrays.items()}
    results = evaluate_program(found.program, found.tensors(held))
    return [output.of(results) for output in found.outputs]


def assert_runs(text: str, name: str | None = None, data: tuple[str, ...] = ("random:size=5",)) -> Program:
    """That a function is right on the simulator, as its operations say, and that its program reads back."""
    module = read_module(text, "t.mlir")
    workload = workload_of(module, choose_function(module, name), data)
    assert parse(dumps(workload.program), workload.program.name) == workload.program
    compiled = compile_workload(workload)
    found = check(workload, compiled, run(compiled, workload.tensors, MODEL).outputs)
    assert found.good
    assert found.compared
    return workload.program
