"""The interpreter that programs are compared with: quick, and honest about what it has not done."""

from importlib import import_module

import numpy as np
import pytest

from samhw.backends import MODEL, run
from samhw.checking import check
from samhw.errors import RunError
from samhw.importers.mlir import choose_function, interpret, read_module
from samhw.reference import evaluate_program
from samhw.workload import compile_workload
from samhw.workload import mlir as workload_module
from samhw.workload.mlir import workload_of

PRODUCT = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>)
      -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""


def test_large_reductions_are_folded_by_numpy() -> None:
    module = read_module(PRODUCT, "t.mlir")
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=(300, 300)) for _ in range(3))
    (found,) = interpret(module, choose_function(module, None), {"a": a, "b": b, "c": c})
    np.testing.assert_allclose(found, a @ b + c)


def test_what_is_too_large_counts_as_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read_module(PRODUCT, "t.mlir")
    workload = workload_of(module, choose_function(module, None), ("random:size=4",))
    compiled = compile_workload(workload)
    outputs = run(compiled, workload.tensors, MODEL).outputs
    assert check(workload, compiled, outputs).compared
    monkeypatch.setattr(import_module("samhw.importers.mlir.interpret"), "_MOST_ITERATIONS", 10)
    assert not check(workload, compiled, outputs).compared


def test_a_program_that_is_off_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read_module(PRODUCT, "t.mlir")
    workload = workload_of(module, choose_function(module, None), ("random:size=4",))
    monkeypatch.setattr(
        workload_module,
        "evaluate_program",
        lambda *given: {name: array + 0.01 for name, array in evaluate_program(*given).items()},
    )
    assert workload.oracle is not None
    with pytest.raises(RunError, match=r"The program of 'f' is off by 0\.01 from the function"):
        workload.oracle()
