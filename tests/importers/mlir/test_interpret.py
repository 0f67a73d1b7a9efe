"""The interpreter that programs are compared with: quick, and honest about what it has not done."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import compile_workload
from samhw.app.workload import mlir as workload_module
from samhw.app.workload.agreement import in_float64
from samhw.app.workload.mlir import difference, workload_of
from samhw.errors import RunError
from samhw.importers.core import HostArray
from samhw.importers.mlir import choose_function, import_function, interpret, read_module
from samhw.targets.backends import MODEL, run

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
        "in_float64",
        lambda *given: {
            name: found._replace(value=found.value + 0.01) for name, found in in_float64(*given).items()
        },
    )
    assert workload.oracle is not None
    with pytest.raises(RunError, match=r"The program of 'f' is off by 0\.01 from the function"):
        workload.oracle()


ROWS = """
func.func @f(%a: tensor<4x2xf32>, %b: tensor<2x1xf32>, %c: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x2xf32>, tensor<2x1xf32>) outs(%c : tensor<4x1xf32>)
      -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}"""
WHOLE = """
func.func @f(%a: tensor<2xi32>) -> tensor<2xi32> {
  %r = arith.addi %a, %a : tensor<2xi32>
  return %r : tensor<2xi32>
}"""


def off_by(text: str, data: dict[str, list[Any]], wrong: Sequence[Any]) -> float | None:
    """How far a function is said to be from its program, if it gave `wrong`."""
    module = read_module(text, "t.mlir")
    function = choose_function(module, None)
    held = {name: HostArray.dense(np.array(rows, np.float64)) for name, rows in data.items()}
    imported = import_function(module, function, held)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workload_module, "interpret", lambda *_: [np.array(wrong, np.float64)])
        return difference(module, function, imported, held, imported.tensors(held))


@pytest.mark.parametrize("great", [1e30, -1e30, np.inf, -np.inf, np.nan])
def test_each_element_is_compared_by_itself(great: float) -> None:
    """Row by row, by hand: [x, 1] [1, 2] + 0 is x + 2."""
    data = {"a": [[great, 1], [1, 1], [0.5, 1], [1e-3, 1]], "b": [[1], [2]], "c": [[0]] * 4}
    right = [[great], [3], [2.5], [2.001]]
    assert off_by(ROWS, data, right) == pytest.approx(0, abs=1e15)
    for row, wrong in ((1, 3.0001), (2, np.nan), (2, np.inf), (3, 2.00101), (0, 7.0)):
        with pytest.raises(RunError, match="is off by"):
            off_by(ROWS, data, [[wrong] if n == row else of for n, of in enumerate(right)])


def test_whole_numbers_are_compared_exactly() -> None:
    assert off_by(WHOLE, {"a": [1 << 29, 3]}, [1 << 30, 6]) == 0
    with pytest.raises(RunError, match="is off by 1 "):
        off_by(WHOLE, {"a": [1 << 29, 3]}, [(1 << 30) + 1, 6])
