"""Memory follows what is stored: nothing on the way from a file to the check takes more than ten times what
the data store, on matrices of 100,000 rows."""

import gzip
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.compiler import Compiled
from samhw.graph.numerics import value_type
from samhw.lang import load_kernel, parse
from samhw.lang.reference import Rounding, results
from samhw.tensors import (
    Tensor,
    power_law_graph,
    random_tensor,
    read_dataset,
    read_tensor,
    uniform_graph,
    write_tensor,
)
from samhw.tensors.generate import bigbird_mask, pruned_weights

ROWS = 100_000
NONZEROS = 200_000
TIMES = 10


def stored(*tensors: Tensor) -> int:
    return sum(array.nbytes for tensor in tensors for array in tensor.arrays().values())


def peak(work: Callable[[], Any]) -> tuple[int, Any]:
    """The most bytes that were taken at once beside those that were there before, and the result."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = work()
        return tracemalloc.get_traced_memory()[1] - before, result
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def matrix() -> scipy.sparse.csr_array:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, ROWS, (2, NONZEROS))
    matrix = scipy.sparse.csr_array((np.ones(NONZEROS), (ends[0], ends[1])), (ROWS, ROWS))
    matrix.data = rng.integers(1, 5, matrix.nnz)
    return matrix


def as_file(kind: str, matrix: scipy.sparse.csr_array, path: Path) -> Path:
    tensor = Tensor.from_scipy(matrix, "csr")
    match kind:
        case "mtx" | "tns":
            write_tensor(path / f"a.{kind}", tensor)
        case "mtx.gz":
            write_tensor(path / "a.mtx", tensor)
            (path / "a.mtx.gz").write_bytes(gzip.compress((path / "a.mtx").read_bytes(), 1))
        case "npz":
            scipy.sparse.save_npz(path / "a.npz", matrix)
        case "txt":
            np.savetxt(path / "a.txt", np.stack(matrix.nonzero()).T, "%d")
    return path / f"a.{kind}"


@pytest.mark.parametrize("kind", ["mtx", "mtx.gz", "tns", "npz", "txt"])
def test_reading(kind: str, matrix: scipy.sparse.csr_array, tmp_path: Path) -> None:
    path = as_file(kind, matrix, tmp_path)
    most, tensor = peak(lambda: read_tensor(path))
    assert tensor.nnz >= 0.99 * matrix.nnz
    assert most < TIMES * stored(tensor)


def test_reading_a_data_set(matrix: scipy.sparse.csr_array, tmp_path: Path) -> None:
    arrays = {
        f"{name}_{part}": getattr(matrix, part)
        for name in ("adj", "attr")
        for part in ("indptr", "indices", "data", "shape")
    }
    np.savez(tmp_path / "a.npz", **arrays)
    most, found = peak(lambda: read_dataset(tmp_path / "a.npz"))
    assert most < TIMES * stored(*found.values())


@pytest.mark.parametrize(
    "make",
    [
        lambda: random_tensor((ROWS, ROWS), "csr", seed=0, nnz=NONZEROS),
        lambda: random_tensor((ROWS, 16), "dense", seed=0, density=1),
        lambda: uniform_graph(ROWS, 2 / ROWS, seed=0),
        lambda: power_law_graph(ROWS, 2 / ROWS, seed=0),
        lambda: power_law_graph(ROWS, 2 / ROWS, seed=0, symmetric=True),
        lambda: pruned_weights((ROWS, 1000), 0.002, seed=0),
        lambda: bigbird_mask(ROWS, 10, seed=0, window=1, global_blocks=0),
    ],
)
def test_drawing(make: Callable[[], Tensor]) -> None:
    most, tensor = peak(make)
    assert tensor.nnz >= NONZEROS
    assert most < TIMES * stored(tensor)


@pytest.mark.parametrize("format", ["csc", "dcsr", "coo", "csf", "dcsc"])
def test_conversions(format: str, matrix: scipy.sparse.csr_array) -> None:
    tensor = Tensor.from_scipy(matrix, "csr")
    most, _ = peak(lambda: tensor.convert(format))
    assert most < TIMES * stored(tensor)


PROGRAMS = {
    "spmv": "x[i] = B[i, j] * c[j]",
    "transposed": "tensor x[j] : dense\nx[j] = B[i, j] * d[i] + 2 * c[j]",
    "spmm": "tensor x[i, k] : dense\nx[i, k] = B[i, j] * E[j, k]",
    "sddmm": "tensor x[i, j] : csr\nx[i, j] = B[i, j] * D[i, k] * E[j, k]",
    "sum": "tensor x[i, j] : csr\nx[i, j] = relu(B[i, j]) - 3 * C[i, j]",
    "product": "tensor x[i, j] : dcsr\nx[i, j] = B[i, k] * C[k, j]",
    "masked": "tensor x[i, j] : csr\nx[i, j] = max(c[j], d[i] + 7) where B[i, j]",
    "greatest": "x[i] max= B[i, j]",
    "normal": "tensor x[i, j] : csr\nl[i] = B[i, j]\nx[i, j] = B[i, j] / l[i]",
}
DECLARED = """
    tensor B[i, j] : csr
    tensor C[i, j] : csr
    tensor c[j] : dense
    tensor d[i] : dense
    tensor D[i, k=16] : dense
    tensor E[j, k=16] : dense
"""


@pytest.fixture(scope="module")
def operands(matrix: scipy.sparse.csr_array) -> dict[str, Tensor]:
    shapes = {"c": (ROWS,), "d": (ROWS,), "D": (ROWS, 16), "E": (ROWS, 16)}
    dense = {n: random_tensor(s, "dense", seed=1, density=1, low=1, high=4) for n, s in shapes.items()}
    return {"B": Tensor.from_scipy(matrix, "csr"), "C": Tensor.from_scipy(matrix.T.tocsr(), "csr"), **dense}


def bound(name: str, operands: dict[str, Tensor]) -> Workload:
    text = PROGRAMS[name]
    used = {key for key in operands if f"{key}[" in text.replace(f"tensor {key}[", "")}
    declared = [line for line in DECLARED.splitlines() if line.strip()[7:8] in used]
    tensors = {key: operands[key] for key in used}
    program = parse("\n".join([*declared, text]))
    return Workload(name, program.bind({key: tensor.shape for key, tensor in tensors.items()}), tensors)


def product(workload: Workload, compiled: Compiled) -> dict[str, Tensor]:
    """The result by SciPy."""
    operand = {
        name: tensor.to_dense() if tensor.format.is_all_dense else tensor.to_scipy()
        for name, tensor in workload.tensors.items()
    }
    match workload.name:
        case "spmv":
            found = operand["B"] @ operand["c"]
        case "spmm":
            found = operand["B"] @ operand["E"]
        case "sum":
            found = operand["B"] - 3 * operand["C"]
        case _:
            found = operand["B"] @ operand["C"]
    make = Tensor.from_scipy if scipy.sparse.issparse(found) else Tensor.from_dense
    return {"x": make(found, compiled.program.tensors["x"].format)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_capacities(name: str, operands: dict[str, Tensor]) -> None:
    workload = bound(name, operands)
    most, capacity = peak(workload.capacity)
    assert capacity.extents
    assert most < TIMES * stored(*workload.tensors.values())


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("value", ["i32", "f32"])
@pytest.mark.parametrize("name", ["spmv", "spmm", "sum", "product"])
def test_checks(name: str, value: str, operands: dict[str, Tensor]) -> None:
    workload = bound(name, operands)
    compiled = compile_workload(workload, value=value_type(value))
    outputs = product(workload, compiled)
    most, found = peak(lambda: check(workload, compiled, outputs))
    assert found.good
    assert most < TIMES * stored(*workload.tensors.values(), *outputs.values())
    # A single wrong element is seen.
    outputs["x"].vals[len(outputs["x"].vals) // 2] += 1
    assert not check(workload, compiled, outputs).good


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_reference(name: str, operands: dict[str, Tensor]) -> None:
    workload = bound(name, operands)
    for rounding in (None, Rounding.floating(23)):
        most, found = peak(partial(results, workload.program, workload.tensors, rounding))
        kept = sum(relation.values.nbytes for relation in found.values())
        assert most < TIMES * (stored(*workload.tensors.values()) + kept)


def test_data_from_a_file(matrix: scipy.sparse.csr_array, tmp_path: Path) -> None:
    path = as_file("mtx", matrix, tmp_path)
    most, workload = peak(lambda: make_workload(load_kernel("spmm"), [f"A={path}"]))
    assert most < TIMES * stored(*workload.tensors.values())
