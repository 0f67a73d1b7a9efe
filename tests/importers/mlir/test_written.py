"""Programs written as MLIR, and read back."""

import re
from fractions import Fraction

import numpy as np
import pytest

from samhw.app.workload import Workload, make_workload
from samhw.errors import InputError
from samhw.graph.numerics import Float, value_type
from samhw.importers.core import HostArray
from samhw.importers.mlir import ImportedFunction, import_function, interpret, read_module, write_function
from samhw.lang import Program, kernel_names, load_named, model_names, parse
from samhw.lang.reference import evaluate_program


def read_back(workload: Workload, element: str = "f32") -> tuple[ImportedFunction, dict[str, HostArray]]:
    """A workload's program, written and read, and its data."""
    text = write_function(workload.program, value_type(element))
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
    assert f"tensor<4x4x{element}>" in write_function(workload.program, value_type(element))
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
        ("T[i] argmax= A[i, k]", "f32", "puts elements in order, for which linalg has no form; leave it out"),
        ("tensor A[i] : dense, fixed<16,8>\nT[i] = A[i] * 2", "f32", "of the type fixed<16,8>; choose one"),
    ],
)
def test_what_has_no_form(text: str, element: str, said: str) -> None:
    program = parse(text, "t", implied=True)
    workload = make_workload(program, ("random:size=4",))
    with pytest.raises(InputError) as found:
        write_function(workload.program, value_type(element))
    assert said in str(found.value)


# Programs of several types: each against NumPy in the same types.

_RNG = np.random.default_rng(67)
_I8 = _RNG.integers(-128, 128, (5, 24), dtype=np.int8)
_X8 = _RNG.integers(-128, 128, 24, dtype=np.int8)
_U8 = _RNG.integers(0, 256, (5, 24), dtype=np.uint8)
_F = _RNG.uniform(-0.99, 0.99, 24).astype(np.float32)
_H = _RNG.normal(size=(5, 24)).astype(np.float16)
_SUMS = _I8.astype(np.int64) @ _X8

Arrays = dict[str, np.ndarray]


def _scaled(x: np.ndarray, m: int, s: int, least: int, greatest: int) -> np.ndarray:
    """x * m / 2**s, rounded by Python's own rule for fractions, and cut."""
    return np.array([min(max(round(Fraction(int(v) * m, 1 << s)), least), greatest) for v in x.ravel()])


def _bf16(x: np.ndarray) -> np.ndarray:
    """Numbers rounded to their upper 16 bits, ties to even."""
    bits = x.view(np.int32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & ~0xFFFF).view(np.float32)


MIXED: dict[str, tuple[str, Arrays, list[np.ndarray]]] = {
    "8 bits multiply into 32": (
        "tensor A[i, k] : dense, i8\ntensor B[k] : dense, i8\nT[i] = A[i, k] * B[k]",
        {"A": _I8, "B": _X8},
        [_SUMS],
    ),
    "numbers without a sign": (
        "tensor A[i, k] : dense, u8\ntensor B[k] : dense, i8\nT[i] = A[i, k] * B[k]\nU[i] max= A[i, k]\n"
        "V[i] min= A[i, k]\nW[i, k] : i32 = lt(A[i, k], 200)",
        {"A": _U8, "B": _X8},
        [
            *(_U8.astype(np.int64) @ _X8, _U8.max(axis=1), _U8.min(axis=1)),
            (_U8 < 200).astype(np.int64),
        ],
    ),
    "whole numbers beside others": (
        "tensor A[i, k] : dense, i8\ntensor B[k] : dense, f32\nT[i, k] : f32 = A[i, k] * B[k]\n"
        "U[i, k] : i8 = to(i8, T[i, k] * 0.125)\nV[i, k] : u8 = to(u8, abs(T[i, k]))",
        {"A": _I8, "B": _F},
        [
            np.rint(_I8 * _F.astype(np.float64) * 0.125),
            np.abs(np.rint(_I8 * _F.astype(np.float64))).astype(np.uint8),
        ],
    ),
    "two types of 16 bits": (
        "tensor A[i, k] : dense, f16\ntensor B[k] : dense, bf16\nT[i] = A[i, k] * B[k]\n"
        "U[i, k] : bf16 = to(bf16, A[i, k])",
        {"A": _H, "B": np.rint(_F * 8)},
        [
            _H.astype(np.float64) @ np.rint(_F * 8),
            _bf16(_H.astype(np.float32)),
        ],
    ),
    "two types of 8 bits": (
        "tensor A[i, k] : dense, f8e4m3\ntensor B[k] : dense, f8e5m2\nT[i] = A[i, k] * B[k]\n"
        "U[i] max= A[i, k]\nV[k] : f8e4m3 = to(f8e4m3, B[k])",
        {"A": np.rint(_H), "B": np.rint(_F)},
        [np.rint(_H).astype(np.float64) @ np.rint(_F), np.rint(_H).max(axis=1), np.rint(_F)],
    ),
    "a scale": (
        "tensor A[i, k] : dense, i8\ntensor B[k] : dense, i8\nT[i] : i32 = A[i, k] * B[k]\n"
        "U[i] : i8 = scale(T[i], 77, 14)\nV[i] : u8 = scale(T[i], 77, 14)\nW[i] : i16 = scale(T[i], 1, 1)",
        {"A": _I8, "B": _X8},
        [
            _scaled(_SUMS, 77, 14, -128, 127),
            _scaled(_SUMS, 77, 14, 0, 255).astype(np.uint8),
            _scaled(_SUMS, 1, 1, -32768, 32767),
        ],
    ),
    "a scale at ties": (
        "tensor A[i] : dense, i8\nT[i] : i8 = scale(A[i], 1, 2)\nU[i] : i8 = scale(A[i], 3, 0)\n"
        "V[i] : u8 = scale(A[i], 2, 1, 100)",
        {"A": np.arange(-128, 128, dtype=np.int8)},
        [
            _scaled(np.arange(-128, 128), 1, 2, -128, 127),
            np.clip(np.arange(-128, 128) * 3, -128, 127),
            np.clip(np.arange(-28, 228), 0, 255).astype(np.uint8),
        ],
    ),
    "a mask of another type": (
        "tensor M[i, k] : csr, i8\ntensor A[i] : dense, f16\ntensor C[k] : dense, f32\n"
        "T[i] = A[i] * C[k] where M[i, k]",
        {"M": _I8 * (_I8 > 50), "A": _H[:, 0], "C": _F},
        [_H[:, 0].astype(np.float64) * ((_I8 > 50) @ _F.astype(np.float64))],
    ),
}


def _written(case: str) -> tuple[str, Arrays, list[np.ndarray]]:
    """A case as MLIR, with its data and what it gives."""
    text, given, wanted = MIXED[case]
    program = parse(text, "t", implied=True).bind({name: array.shape for name, array in given.items()})
    return write_function(program, Float("f32")), given, wanted


def _assert_equal(found: np.ndarray, wanted: np.ndarray) -> None:
    """That results are right; those of `u8` come back as words of `i8`, with their signs."""
    if wanted.dtype == np.uint8:
        found = found % 256
    np.testing.assert_allclose(found, wanted, rtol=0 if wanted.dtype.kind in "iu" else 1e-5, atol=1e-5)


@pytest.mark.parametrize("case", MIXED)
def test_each_tensor_has_its_own_type(case: str) -> None:
    text, given, wanted = _written(case)
    module = read_module(text, "t.mlir")
    (function,) = module.functions.values()
    found = interpret(module, function, {name: array.astype(np.float64) for name, array in given.items()})
    for one, other in zip(found, wanted, strict=True):
        _assert_equal(one, other)


@pytest.mark.parametrize("case", [case for case in MIXED if "scale" not in case])
def test_a_program_of_several_types_reads_back(case: str) -> None:
    text, given, wanted = _written(case)
    module = read_module(text, "t.mlir")
    (function,) = module.functions.values()
    held = {}
    for name, array in given.items():
        words = array.view(np.int8) if array.dtype == np.uint8 else array
        coords = np.array(words.nonzero())
        sparse = "csr" in MIXED[case][0] and name == "M"
        held[name] = (
            HostArray(words.shape, words[tuple(coords)], coords) if sparse else HostArray.dense(words)
        )
    imported = import_function(module, function, held)
    found = evaluate_program(imported.program, imported.tensors(held))
    for output, other in zip(imported.outputs, wanted, strict=True):
        _assert_equal(output.of(found), other)


@pytest.mark.parametrize("case", MIXED)
def test_types_of_tensors_are_those_of_the_text(case: str) -> None:
    text, given, _ = _written(case)
    names = {"u8": "i8", "f8e4m3": "f8E4M3FN", "f8e5m2": "f8E5M2"}
    for decl in parse(MIXED[case][0], "t", implied=True).inputs:
        shape = "x".join(map(str, given[decl.name].shape))
        assert decl.value is not None
        assert f"%{decl.name}: tensor<{shape}x{names.get(decl.value.name, decl.value.name)}" in text
