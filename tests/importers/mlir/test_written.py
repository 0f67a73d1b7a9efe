"""Programs written as MLIR, and read back."""

import re

import numpy as np
import pytest

from samhw.app.workload import Workload, make_workload
from samhw.errors import InputError
from samhw.importers.core import HostArray
from samhw.importers.mlir import ImportedFunction, import_function, read_module, write_function
from samhw.lang import Program, kernel_names, load_named, model_names, parse
from samhw.lang.reference import evaluate_program


def read_back(workload: Workload, element: str = "f32") -> tuple[ImportedFunction, dict[str, HostArray]]:
    """A workload's program, written and read, and its data."""
    text = write_function(workload.program, element)
    module = read_module(text, "t.mlir")
    held = {}
    for decl in workload.program.operands:
        tensor = workload.tensors[decl.name]
        coords, values = tensor.to_coo()
        sparse = decl.format.is_sparse
        held[decl.name] = (
            HostArray(tensor.shape, values, coords) if sparse else HostArray.dense(tensor.to_dense())
        )
    (function,) = module.functions.values()
    return import_function(module, function, held), held


def statements(program: Program) -> list[str]:
    """The statements, with indices named in the order in which each has them, and without loops."""
    found = []
    for statement in program.statements:
        names: dict[str, str] = {}

        def numbered(match: re.Match[str], names: dict[str, str] = names) -> str:
            row = [names.setdefault(name, f"i{len(names)}") for name in match[1].split(", ")]
            return f"[{', '.join(row)}]"

        found.append(re.sub(r"\[(.*?)\]", numbered, str(statement).partition("    order")[0]))
    return found


@pytest.mark.parametrize("name", [*kernel_names(), *model_names()])
def test_a_program_reads_back_with_the_same_values(name: str) -> None:
    program = load_named(name)
    assert isinstance(program, Program)
    workload = make_workload(program, ("random:size=6",))
    imported, held = read_back(workload)
    ours = evaluate_program(imported.program, imported.tensors(held))
    theirs = evaluate_program(workload.program, workload.tensors)
    for decl, output in zip(workload.program.outputs, imported.outputs, strict=True):
        np.testing.assert_allclose(output.of(ours), theirs[decl.name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["spmv", "spmm", "mmadd", "plus3", "ttv", "gcn", "gcn_softmax", "mlp", "sae"]
)
def test_a_program_reads_back_as_it_is(name: str) -> None:
    program = load_named(name)
    assert isinstance(program, Program)
    workload = make_workload(program, ("random:size=6",))
    imported, _ = read_back(workload)
    assert statements(imported.program) == statements(workload.program)


WRITTEN = {
    "functions": "T[i] = gelu(A[i]) + silu(A[i]) * sigmoid(A[i]) + leaky_relu(A[i], 0.2) + abs(A[i])",
    "comparisons": "T[i] = select(lt(A[i], 0.25), max(A[i], B[i]), le(B[i], A[i])) + eq(A[i], B[i])",
    "a maximum": "T[i] max= A[i, k] * B[k]",
    "a product": "T[i] prod= A[i, k]",
    "terms over other indices": "T[i] = B[i] - A[i, k] * C[k] + A[i, j]",
    "a mask": "tensor M[i, k] : csr\nT[i, k] = B[i] * C[k] where M[i, k]",
    "a maximum under a mask": "tensor M[i, k] : csr\nT[i] max= C[k] * B[i] where M[i, k]",
    "elements that move": "tensor A[i=4, j=6] : dense\ntensor U[m=24] : dense\n"
    "U[m] = reshape(A[i, j])\nT[m] = U[m] * 2",
    "parts": "T[i, j] = concat(i, A[i, j], B[i, j])\nU[i, j] = T[i, j] * 2",
    "a format of its own": "tensor A[i, j] : coo\ntensor B[j] : (compressed)\nT[i] = A[i, j] * B[j]",
    "blocks": "tensor A[i=4, j=4] : bcsr(2)\nT[i] = A[i, j] * B[j]",
}


@pytest.mark.parametrize("case", WRITTEN)
def test_a_construct_is_written(case: str) -> None:
    program = parse(WRITTEN[case], "t", implied=True)
    workload = make_workload(program, ("random:size=4,density=0.5",), value=None)
    imported, held = read_back(workload)
    ours = evaluate_program(imported.program, imported.tensors(held))
    theirs = evaluate_program(workload.program, workload.tensors)
    for decl, output in zip(workload.program.outputs, imported.outputs, strict=True):
        np.testing.assert_allclose(output.of(ours), theirs[decl.name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("element", ["bf16", "f16", "i8", "i16", "i32"])
def test_the_element_type_is_that_of_the_program(element: str) -> None:
    program = parse("T[i] max= relu(A[i, k]) + 2", "t", implied=True)
    workload = make_workload(program, ("random:size=4",))
    assert f"tensor<4x4x{element}>" in write_function(workload.program, element)
    imported, _ = read_back(workload, element)
    assert imported.element == (element if element in ("bf16", "f16") else "i32")


@pytest.mark.parametrize(
    ("text", "element", "said"),
    [
        ("T[i] = cumsum(i, A[i])", "f32", "for which linalg has no form; leave it out"),
        (
            "T[i] = A[wrap(i + 1)]",
            "f32",
            "'wrap(i + 1)', and an operation of linalg takes only names of indices; leave its statement out",
        ),
        ("T[i] = A[i] / B[i]", "i32", "divides integers, which is not written; choose f32"),
        ("T[i] = A[i] * 0.5", "i32", "The number 0.5 is none of i32; choose f32 or bf16"),
        ("T[i] = exp(A[i])", "i32", "'exp' is no function of integers; choose f32"),
        ("T[i] = A[i] * 2", "fixed<8,4>", "no elements of the type fixed<8,4>; choose one of f32"),
        ("tensor M[i] : dense\nT[i] = A[i] where M[i]", "f32", "a mask that is stored densely"),
        ("tensor A[i] : dense, i8\nT[i] = A[i] * 2", "i32", "types of its own (i8), and what is written has"),
        ("T[i] = to(i8, A[i])", "i32", "types of its own (i8), and what is written has one; leave the types"),
    ],
)
def test_what_has_no_form(text: str, element: str, said: str) -> None:
    program = parse(text, "t", implied=True)
    workload = make_workload(program, ("random:size=4",))
    with pytest.raises(InputError) as found:
        write_function(workload.program, element)
    assert said in str(found.value)
