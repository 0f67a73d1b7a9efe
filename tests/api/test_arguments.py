"""Arguments that are of another kind than meant: what obviously can be taken is, and all else is refused in a
sentence."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import samhw
import samhw.torch
from samhw.errors import InputError
from samhw.graph import HBM2, Arch
from samhw.tensors import Format, Tensor
from samhw.tensors.formats import StoredLevel

SPMM = "T[i, j] = A[i, k] * X[k, j]"
A, X = np.eye(3), np.ones((3, 2))


def run(**data: Any) -> Any:
    return samhw.compile(SPMM).run({"A": A, "X": X, **data})


def compiled(**options: Any) -> Any:
    return samhw.compile(SPMM, **options)


def module(*arguments: Any, **options: Any) -> Any:
    return samhw.torch.compile(torch.nn.Linear(3, 2), arguments, **options)


def masked(*hidden: int) -> Any:
    mask = np.zeros(9, bool)
    mask[list(hidden)] = True
    return np.ma.masked_array(np.arange(9.0), mask=mask).reshape(3, 3)


def damaged(kind: str) -> Any:
    matrix = getattr(sp, f"{kind}_array")(A)
    matrix.indptr[1] = 77
    return matrix


CSR = Format.parse("csr", 2)
BY_HAND = Tensor(
    (3, 3),
    CSR,
    (
        StoredLevel(CSR.levels[0], 3),
        StoredLevel(CSR.levels[1], 3, {"pos": np.array([0, 1, 9, 3]), "crd": np.arange(3)}),
    ),
    np.ones(3),
)
with warnings.catch_warnings(action="ignore"):  # That they are new.
    SPARSE = torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 99]), torch.ones(3), (3, 3), check_invariants=False
    )

REFUSED: list[tuple[Any, str]] = [
    (lambda: run(A=masked(0)), "some elements are masked, .* fill them, as with array.filled"),
    (lambda: run(A=np.ma.masked_all((3, 3))), "some elements are masked"),
    (lambda: run(A=[masked(0)[0], masked()[1], masked()[2]]), "some elements are masked"),
    (lambda: run(A=np.rec.array([(1, 2.0)], dtype="i4,f4")), "values of dtype .* are not supported"),
    (lambda: run(A=np.array([["1"]], np.dtypes.StringDType())), "values of dtype .* are not supported"),
    (lambda: run(A=torch.zeros(3, 3, device="meta")), "on the device 'meta' has no values"),
    (lambda: run(A=torch.zeros(3, 3, dtype=torch.complex64)), "values of dtype complex64"),
    (lambda: run(A=torch.empty(3, 3, dtype=torch.bits8)), "torch.bits8 has no counterpart in NumPy"),
    (lambda: run(A=SPARSE), "not a valid tensor of the layout torch.sparse_csr"),
    (lambda: run(A=BY_HAND), "pos1 must not decrease"),
    (lambda: run(A=damaged("csr")), "not a valid SciPy sparse matrix: indptr must not decrease"),
    (lambda: run(A=damaged("csc")), "not a valid SciPy sparse matrix"),
    (lambda: run(A=damaged("bsr")), "not a valid SciPy sparse matrix"),
    (lambda: compiled().run([A, X]), r"data cannot be of type list; give arrays by name, as in run\(A=array"),
    (lambda: compiled().run(A=A, X=X, backend=3), "backend cannot be 3; give its name, such as 'verilator'"),
    (lambda: compiled().run(A=A, X=X, memory=3), "off-chip memory cannot be 3; give a Dram"),
    (lambda: compiled().run(A=A, X=X, wave="w.vcd"), "backend 'sim' does not record; choose the backend"),
    (lambda: compiled().run(A=A, X=X, wave=3), "file of the wave cannot be 3"),
    (lambda: compiled(formats={"A": 5}), "format of 'A' is 5; give a text"),
    (lambda: compiled(formats=["A"]), "give a table with an entry for each name"),
    (lambda: compiled(value=3), "value type cannot be 3; give its name"),
    (lambda: compiled(entries=[1]), r"'entries' cannot be \[1\]; give numbers by tensor"),
    (lambda: compiled(entries={"A": 0.5}), "The entries of 'A' cannot be 0.5; give a whole number"),
    (lambda: compiled(arch="vitus"), "There is no arch 'vitus' .did you mean 'vitis'.*give samhw, vitis"),
    (lambda: compiled(arch=3), "arch cannot be 3; give an Arch"),
    (lambda: compiled(schedule=3), "A schedule cannot be 3; give a Schedule"),
    (lambda: compiled(schedule={3: 4}), "The fields of a schedule have names; 3 is none"),
    (lambda: compiled(schedule={"lanes": {"i": True}}), "'lanes.i' is True; give a whole number"),
    (lambda: compiled(fuse=np.ones((9, 9))), "'fuse' is of type ndarray; give one of none"),
    (lambda: samhw.compile(3), "A program cannot be 3; give its text"),
    (lambda: samhw.compile(b"spmv"), "A program cannot be b'spmv'"),
    (lambda: samhw.compile([SPMM]), "A program cannot be "),
    (lambda: samhw.load(3), "The program cannot be 3; give the path of a file"),
    (lambda: compiled().save(3), "The program's file cannot be 3"),
    (lambda: module(A), "An argument is of type ndarray; give tensors .* torch.as_tensor"),
    (lambda: module(3), "None of the arguments is a tensor, and all else is a constant"),
    (lambda: module(torch.ones(2, 3, device="meta")), "An argument is on the device 'meta'"),
    (lambda: module(torch.ones(2, 3).to(torch.float8_e5m2)), "An argument is of torch.float8_e5m2"),
    (lambda: module(SPARSE), "An argument is not a valid tensor of the layout torch.sparse_csr"),
    (lambda: module(torch.ones(2, 3), sparsify=5), "'sparsify' cannot be 5; give a share of zeros"),
    (lambda: module(torch.ones(2, 3), sparsify="x"), "'sparsify' cannot be 'x'"),
    (lambda: module(torch.ones(2, 3)).run(A), "An argument is of type ndarray"),
    (
        lambda: samhw.torch.compile(torch.nn.Linear(3, 2, device="meta"), (torch.ones(2, 3),)),
        "'weight' is on the device 'meta'",
    ),
    (
        lambda: samhw.torch.compile(3, (torch.ones(2, 3),)),
        "The module cannot be 3; give a module of PyTorch",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_other_kinds_are_refused(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()


def test_quantized_tensors_are_refused() -> None:
    with warnings.catch_warnings(action="ignore"):  # That they are deprecated.
        quantized = torch.quantize_per_tensor(torch.eye(3), 0.5, 0, torch.qint8)
    with pytest.raises(InputError, match=r"torch.qint8 is quantized: give tensor.dequantize\(\)"):
        run(A=quantized)


@pytest.mark.parametrize(
    "data",
    [
        masked(),
        np.matrix(A),
        np.asfortranarray(A),
        A.astype(">f8"),
        torch.eye(3).to(torch.float8_e4m3fn),
        torch.eye(3, dtype=torch.float16),
        torch.eye(3, requires_grad=True),
        torch.eye(3).to(torch.complex64).conj().imag,
        torch.eye(3).to_sparse_bsr((1, 1)),
        *(getattr(sp, f"{kind}_matrix")(A) for kind in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")),
    ],
    ids=lambda data: type(data).__name__,
)
def test_data_of_many_kinds(data: Any) -> None:
    if isinstance(data, torch.Tensor):
        wanted = data.to(torch.float32).to_dense().detach().resolve_neg().numpy()
    else:
        wanted = data.toarray() if hasattr(data, "toarray") else np.asarray(data)
    found: Any = run(A=data)["T"]
    np.testing.assert_array_equal(found.toarray() if hasattr(found, "toarray") else found, wanted @ X)


def test_what_can_be_taken_is() -> None:
    assert compiled(value=None, entries=None, formats=None, arch=None).value is None
    assert compiled(arch="vitis").arch == Arch.vitis()
    assert compiled(arch={"slack": np.int64(3)}).arch.slack == 3
    assert compiled(schedule={}).schedule == samhw.Schedule()
    assert compiled(schedule={"lanes": {"i": np.int64(3)}}).schedule.lanes == {"i": 3}
    assert compiled(schedule={"permute": np.True_, "attempts": np.uint8(3)}).schedule.permute
    csr = Format.parse("csr", 2)
    assert compiled(formats={"A": csr}, entries={"A": np.int32(9)}).program.tensors["A"].format == csr
    design = compiled()
    assert design.run(A=A, X=X, backend=None).backend == "sim"
    fetched = design.run(A=A, X=X, memory="hbm2").cycles
    assert design.run(A=A, X=X, memory={"preset": "hbm2"}).cycles == fetched
    assert design.run(A=A, X=X, memory=HBM2).cycles == fetched


def test_a_tensor_may_have_the_name_of_an_argument() -> None:
    design = samhw.compile("y[i] = 2 * memory[i]")
    with pytest.raises(InputError, match=r'goes into the first argument, as in run\(\{"memory"'):
        design.run(memory=[1, 2])
    with pytest.raises(InputError, match=r'give each input, as in run\(\{"memory": array\}\)'):
        design.run()
    np.testing.assert_array_equal(design.run({"memory": [1, 2]})["y"], [2, 4])


def test_the_arrays_of_the_user_stay() -> None:
    """A check may sort and cut what it checks, but not what is the user's."""
    matrix = sp.csr_array(A)
    matrix.indices = np.concatenate([matrix.indices, [2, 2]])
    matrix.data = np.concatenate([matrix.data, [7.0, 7.0]])
    np.testing.assert_array_equal(run(A=matrix)["T"], X)
    assert (len(matrix.indices), len(matrix.data)) == (5, 5)


@pytest.mark.parametrize("matrix", [np.full((3, 3), 300), np.full((3, 3), 0.5)])
def test_a_refusal_of_values_names_the_argument(matrix: Any) -> None:
    with pytest.raises(InputError, match=r"type .*\(value=(\.\.|'f32')\)"):
        samhw.compile(SPMM, value="i8").run(A=matrix, X=X)
