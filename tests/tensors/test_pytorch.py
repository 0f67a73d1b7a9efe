import sys
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from samhw.errors import InputError
from samhw.tensors import Tensor, read_tensor
from tests.support.strategies.tensors import tensors

MATRIX = np.array([[0, 5, 0, 1], [0, 0, 0, 0], [7, 0, 8, 0]], np.float32)


def test_without_pytorch_the_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match="PyTorch is not installed"):
        Tensor.from_dense(MATRIX, "csr").to_torch()
    with pytest.raises(InputError, match="PyTorch is not installed"):
        Tensor.from_torch(MATRIX, "csr")


def test_layout_errors_need_no_pytorch():
    with pytest.raises(InputError, match="unknown layout 'csr': use strided"):
        Tensor.from_dense(MATRIX, "csr").to_torch("csr")
    with pytest.raises(InputError, match="layout sparse_csr is for matrices"):
        Tensor.from_dense(MATRIX[0], "csf").to_torch("sparse_csr")


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore:Sparse")
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(tensors(), st.sampled_from(["strided", "sparse_coo", "sparse_csr", "sparse_csc"]))
def test_round_trip(torch, tensor, layout):
    if tensor.rank != 2 and layout.startswith("sparse_cs"):
        layout = "strided"
    there = tensor.to_torch(layout)
    assert there.layout == getattr(torch, layout)
    assert_array_equal(there.to_dense().numpy(), tensor.to_dense())
    again = Tensor.from_torch(there, tensor.format)
    assert again.dtype == tensor.dtype
    assert_array_equal(again.to_dense(), tensor.to_dense())


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    ("format", "layout"),
    [("dense", "strided"), ("csr", "sparse_csr"), ("csc", "sparse_csc"), ("dcsr", "sparse_coo")],
)
def test_the_layout_follows_the_format(torch, format, layout):
    assert Tensor.from_dense(MATRIX, format).to_torch().layout == getattr(torch, layout)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_explicit_zeros_and_duplicates(torch):
    source = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 0.0], (2, 2))
    tensor = Tensor.from_torch(source, "csr")
    assert tensor.vals.tolist() == [3, 0]
    assert tensor.to_torch("sparse_coo").values().tolist() == [3, 0]
    assert tensor.to_torch("sparse_csc").values().tolist() == [0, 3]


@pytest.mark.filterwarnings("ignore:Sparse")
def test_tensors_that_need_gradients_and_bfloat16(torch):
    source = torch.tensor(MATRIX, requires_grad=True)
    assert_array_equal(Tensor.from_torch(source, "csr").to_dense(), MATRIX)
    halves = Tensor.from_torch(source.to(torch.bfloat16).to_sparse_csr(), "csr")
    assert halves.dtype == np.float32
    assert_array_equal(halves.to_dense(), MATRIX)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["bsr", "bsc"])
def test_blocks(torch, layout):
    blocks = torch.zeros((4, 6))
    blocks[2:, 4:], blocks[0, 1] = torch.tensor([[1.0, 2], [3, 4]]), 5
    tensor = Tensor.from_torch(getattr(blocks, f"to_sparse_{layout}")((2, 2)), "csr")
    assert_array_equal(tensor.to_dense(), blocks.numpy())


@pytest.mark.filterwarnings("ignore:Sparse")
def test_layouts_without_a_place_here_are_refused(torch):
    cube = torch.ones((2, 2, 2))
    for source in (cube.to_sparse(2), cube.to_sparse_csr(), cube.to_sparse_csr(dense_dim=1)):
        with pytest.raises(InputError, match="batched or hybrid"):
            Tensor.from_torch(source, "csf")
    with pytest.raises(InputError, match="expected a PyTorch tensor but got ndarray"):
        Tensor.from_torch(MATRIX, "csr")


@pytest.mark.parametrize("layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"])
@pytest.mark.parametrize("value", [-1, 99])
def test_damaged_layouts_are_refused(torch, layout, value):
    """PyTorch makes them without a word, and its conversions end the process."""
    whole = torch.eye(4)
    kind = getattr(torch, layout)
    sparse = (
        whole.to_sparse(layout=kind, blocksize=(2, 2)) if "bs" in layout else whole.to_sparse(layout=kind)
    )
    if layout == "sparse_coo":
        indices = sparse.indices().clone()
        indices[0, 1] = value
        bad = torch.sparse_coo_tensor(indices, sparse.values(), (4, 4), check_invariants=False)
    else:
        rows = layout in ("sparse_csr", "sparse_bsr")
        parts = (
            [sparse.crow_indices(), sparse.col_indices()]
            if rows
            else [sparse.ccol_indices(), sparse.row_indices()]
        )
        for broken in range(2):
            changed = [part.clone() for part in parts]
            changed[broken][1] = value
            bad = torch.sparse_compressed_tensor(
                *changed, sparse.values(), (4, 4), layout=kind, check_invariants=False
            )
            with pytest.raises(InputError, match=f"not a valid tensor of the layout torch.{layout}"):
                Tensor.from_torch(bad, "csr")
    with pytest.raises(InputError, match=f"not a valid tensor of the layout torch.{layout}"):
        Tensor.from_torch(bad, "csr")


def test_float8_becomes_float32(torch):
    values = torch.tensor([[0.0, 1.5], [-2.0, 0.25]])
    for name in ("float8_e4m3fn", "float8_e5m2"):
        small = values.to(getattr(torch, name))
        tensor = Tensor.from_torch(small, "dense")
        assert (tensor.dtype, tensor.to_dense().tolist()) == (np.float32, values.tolist())


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_every_float8_in_a_file(torch, tmp_path, name):
    words = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name)).reshape(16, 16).T
    torch.save(words, tmp_path / "words.pt")
    read = read_tensor(tmp_path / "words.pt").to_dense()
    assert np.array_equal(read, words.float().numpy(), equal_nan=True)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda torch: torch.zeros(2, device="meta"), "on the device 'meta' has no values"),
        (lambda torch: torch.empty(2, dtype=torch.bits8), "torch.bits8 has no counterpart in NumPy"),
        (lambda torch: torch.nested.nested_tensor([torch.zeros(2)]), "a nested tensor has no shape"),
        (lambda torch: torch.zeros(2, dtype=torch.cfloat), "complex64 are not supported"),
    ],
)
def test_tensors_without_numbers_are_refused(torch, make, sentence):
    with warnings.catch_warnings(action="ignore"), pytest.raises(InputError, match=sentence):
        Tensor.from_torch(make(torch), "dense")
