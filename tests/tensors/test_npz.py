import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from samhw.errors import InputError
from samhw.tensors import Tensor, read_dataset, read_tensor, write_tensor

MATRIX = np.array([[0, 5, 0, 1], [0, 0, 0, 0], [7, 0, 8, 0], [0, 0, 0, 2]], np.float32)


@pytest.mark.parametrize(
    ("layout", "format"), [("csr", "csr"), ("csc", "csc"), ("coo", "coo"), ("bsr", "bcsr(2)"), ("dia", "dia")]
)
@pytest.mark.parametrize("kind", [scipy.sparse.coo_array, scipy.sparse.coo_matrix])
def test_scipy_files_keep_their_layout(tmp_path, layout, format, kind):
    matrix = kind(MATRIX)
    matrix = matrix.tobsr((2, 2)) if layout == "bsr" else matrix.asformat(layout)
    scipy.sparse.save_npz(tmp_path / "a.npz", matrix)
    tensor = read_tensor(tmp_path / "a.npz")
    assert str(tensor.format) == format
    assert tensor.dtype == np.float32
    assert_array_equal(tensor.to_dense(), MATRIX)


def test_scipy_blocks_that_are_not_square_keep_their_sizes(tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.bsr_array(MATRIX, blocksize=(1, 2)))
    tensor = read_tensor(tmp_path / "a.npz")
    assert str(tensor.format) == "bcsr(1,2)"
    assert_array_equal(tensor.to_dense(), MATRIX)


def test_a_single_dense_array(tmp_path):
    cube = np.arange(8, dtype=np.int16).reshape(2, 2, 2)
    np.savez_compressed(tmp_path / "a.npz", anything=cube)
    tensor = read_tensor(tmp_path / "a.npz")
    assert (str(tensor.format), tensor.dtype) == ("dense", np.int16)
    assert_array_equal(tensor.to_dense(), cube)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.float16, np.float32])
def test_our_form_keeps_the_dtype_and_blocks(tmp_path, dtype):
    write_tensor(tmp_path / "a.npz", Tensor.from_dense(MATRIX.astype(dtype), "bcsr(3) @ (1, 0)"))
    tensor = read_tensor(tmp_path / "a.npz")
    assert (str(tensor.format), tensor.dtype) == ("bcsr(3) @ (1, 0)", dtype)
    assert_array_equal(tensor.to_dense(), MATRIX.astype(dtype))


def test_dtypes_that_numpy_does_not_know_are_refused(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tensor = Tensor.from_dense(MATRIX.astype(ml_dtypes.bfloat16), "csr")
    assert tensor.convert("csc").dtype == ml_dtypes.bfloat16
    with pytest.raises(InputError, match="cannot hold bfloat16 values: convert them to float32"):
        write_tensor(tmp_path / "a.npz", tensor)


CSR = {"shape": [2, 2], "indptr": [0, 1, 2], "indices": [0, 1], "data": [1, 2]}
OWN = {"shape": [2, 2], "pos1": [0, 1, 2], "crd1": [0, 1], "vals": [1, 2]}


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"a": [1], "b": [2]}, "does not hold one tensor"),
        ({"a": ["text"]}, "not supported"),
        ({"format": "csr", **OWN, "pos1": [0, 1, 3]}, "pos1 runs from 0 to 3"),
        ({"format": "csf2", **OWN}, "unknown format 'csf2'"),
        ({"format": "csr", **OWN, "shape": [2.5, 2]}, "shape must be"),
        ({"format": "csr", **OWN, "shape": [2, 2, 2]}, "for a tensor of rank 3"),
        ({"format": "csr", **CSR, "indptr": [0, 9, 2]}, "not a valid SciPy sparse matrix"),
        ({"format": "csr", **CSR, "indices": [0, 2]}, "not a valid SciPy sparse matrix"),
        ({"format": "csr", **CSR, "indices": [0, -1]}, "not a valid SciPy sparse matrix"),
        ({"format": "coo", **CSR}, "not a valid SciPy sparse matrix"),
        ({"format": "coo", **CSR, "row": [0, 2], "col": [0, 0]}, "not a valid SciPy sparse matrix"),
        ({"format": "odd", **CSR}, "not a valid SciPy sparse matrix"),
    ],
)
def test_malformed_archives_are_one_sentence(tmp_path, arrays, complaint):
    np.savez(tmp_path / "a.npz", **{name: np.array(array) for name, array in arrays.items()})
    with pytest.raises(InputError) as caught:
        read_tensor(tmp_path / "a.npz")
    assert complaint in str(caught.value)


def test_files_that_are_no_archive(tmp_path):
    path = tmp_path / "a.npz"
    write_tensor(path, Tensor.from_dense(MATRIX, "csr"))
    truncated = path.read_bytes()[:-100]
    objects = tmp_path / "objects.npz"
    np.savez(objects, a=np.array([None, {}]))
    encrypted = bytearray(path.read_bytes())
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    for content in (b"", b"hello", truncated, encrypted, pickle.dumps([1]), objects.read_bytes()):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a NumPy archive of plain arrays"):
            read_tensor(path)
    with path.open("wb") as file:
        np.save(file, MATRIX)
    with pytest.raises(InputError, match="is not a NumPy archive of plain arrays"):
        read_tensor(path)


def dataset():
    return {
        "adj_indptr": [0, 1, 3],
        "adj_indices": [1, 1, 0],
        "adj_shape": [2, 2],
        "feat_indptr": [0, 2, 2],
        "feat_indices": [0, 2],
        "feat_data": np.array([0.5, 2], np.float32),
        "feat_shape": [2, 3],
        "labels": [0, 1],
    }


def test_dataset(tmp_path):
    np.savez(tmp_path / "a.npz", **dataset())
    tensors = read_dataset(tmp_path / "a.npz")
    assert list(tensors) == ["adjacency", "features"]
    assert_array_equal(tensors["adjacency"].to_dense(), [[0, 1], [1, 1]])
    assert_array_equal(tensors["features"].to_dense(), [[0.5, 0, 2], [0, 0, 0]])
    assert [tensor.dtype for tensor in tensors.values()] == [np.int64, np.float32]
    assert [str(tensor.format) for tensor in tensors.values()] == ["csr", "csr"]
    for tensor in tensors.values():
        tensor.check()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"feat_data": [1, 2, 3]}, "the feat_ arrays are not a CSR matrix"),
        ({"adj_indices": [1, 2, 0]}, "the adj_ arrays are not a CSR matrix"),
        ({"adj_indptr": [0, 4, 3]}, "the adj_ arrays are not a CSR matrix"),
        ({"adj_shape": [2, 2, 2]}, "the adj_ arrays are not a CSR matrix"),
        ({"adj_shape": 2}, "the adj_ arrays are not a CSR matrix"),
    ],
)
def test_malformed_datasets_are_one_sentence(tmp_path, changes, complaint):
    np.savez(tmp_path / "a.npz", **dataset() | changes)
    with pytest.raises(InputError) as caught:
        read_dataset(tmp_path / "a.npz")
    assert complaint in str(caught.value)


def test_missing_datasets_and_keys(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_dataset(tmp_path / "a.npz")
    arrays = dataset()
    del arrays["adj_shape"], arrays["feat_data"]
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match="it lacks adj_shape, feat_data"):
        read_dataset(tmp_path / "a.npz")
    with pytest.raises(InputError, match=r"is no folder of OGB: it has no raw/edge\.csv\.gz"):
        read_dataset(tmp_path)
