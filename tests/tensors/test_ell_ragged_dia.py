"""The levels ell, ragged and dia: what is stored, what is refused, and what comes back."""

import numpy as np
import pytest
import scipy.sparse

from samhw.app.api import as_tensor
from samhw.errors import InputError
from samhw.lang import parse
from samhw.tensors import Format, Tensor, read_tensor, write_tensor

PAGE = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0], [4, 5, 0, 6]])
"""The matrix of docs/formats.md, with 1 to 6 for a to f."""

FORMATS = (
    *("ell(5)", "ragged", "dia", "dia @ (1, 0)", "ragged @ (1, 0)", "(compressed, ell(5))"),
    *("(compressed, ragged)", "(ell(5), ragged)", "(ragged, ell(5))", "(ell(5), dense)"),
    *("(ragged, compressed)", "(ell(5), compressed)", "(ell(5), ell(5))"),
)


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        (
            "ell(3)",
            {
                "cnt1": [2, 0, 1, 3],
                "crd1": [0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 1, 3],
                "vals": [1, 2, 0, 0, 0, 0, 3, 0, 0, 4, 5, 6],
            },
        ),
        ("ragged", {"pos1": [0, 3, 3, 5, 9], "vals": [1, 0, 2, 0, 3, 4, 5, 0, 6]}),
        (
            "dia",
            {
                "cnt1": [5],
                "off1": [-3, -2, -1, 0, 2],
                "vals": [0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 3, 0, 1, 0, 0, 6, 2, 0, 0, 0],
            },
        ),
    ],
)
def test_what_the_page_shows_is_stored(name, arrays):
    stored = Tensor.from_dense(PAGE, name).arrays()
    assert {key: array.tolist() for key, array in stored.items()} == arrays


@pytest.mark.parametrize("name", FORMATS)
def test_round_trips(name, tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(20):
        dense = rng.integers(0, 4, rng.integers(1, 6, 2)) * (rng.random() < 0.9)
        tensor = Tensor.from_dense(dense, name)
        tensor.check()
        assert Format.parse(str(tensor.format), 2) == tensor.format
        again = Tensor.from_arrays(dense.shape, name, tensor.arrays())
        for found in (tensor, again, tensor.convert("csr"), tensor.convert("csr").convert(name)):
            assert np.array_equal(found.to_dense(), dense)
        assert np.array_equal(tensor.to_scipy().toarray(), dense)
    write_tensor(tmp_path / "a.npz", tensor)
    assert np.array_equal(read_tensor(tmp_path / "a.npz").to_dense(), dense)


def test_diagonals_of_scipy_come_in_and_go_out(tmp_path):
    matrix = scipy.sparse.diags_array([[1.0, 2, 3], [4, 5, 6, 7]], offsets=[-1, 0], shape=(4, 6))
    tensor = as_tensor("A", matrix)
    assert str(tensor.format) == "dia"
    assert tensor.arrays()["off1"].tolist() == [-1, 0]
    back = tensor.to_scipy()
    assert isinstance(back, scipy.sparse.dia_array)
    assert np.array_equal(back.toarray(), matrix.toarray())
    scipy.sparse.save_npz(tmp_path / "d.npz", matrix)
    assert str(read_tensor(tmp_path / "d.npz").format) == "dia"


@pytest.mark.parametrize(
    ("name", "array", "change", "message"),
    [
        ("ell(3)", "cnt1", [2, 0, 1, 4], "fiber 3 of level 1 has 4 coordinates, but it can have 0 to 3"),
        ("ell(3)", "crd1", [2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 3], "crd1 must increase within a fiber"),
        ("ell(3)", "crd1", [0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 1, 3], "crd1 entry 1 is 4"),
        ("ragged", "pos1", [0, 5, 5, 5, 9], "fiber 0 of level 1 runs to 5 coordinates"),
        ("dia", "off1", [-3, -2, -2, 0, 2], "off1 must increase, but entry 2 is -2 after -2"),
        ("dia", "off1", [-4, -2, -1, 0, 2], "off1 entry 0 is -4, but diagonals there run from -3 to 3"),
        ("dia", "cnt1", [4], r"cnt1 is \[4\], and has to be \[5\]"),
    ],
)
def test_damaged_storage_is_refused(name, array, change, message):
    arrays = Tensor.from_dense(PAGE, name).arrays()
    with pytest.raises(InputError, match=message):
        Tensor.from_arrays(PAGE.shape, name, {**arrays, array: np.array(change)})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ell(2)", "has room for 2 coordinates in each row, but one has 3; use a width of 3"),
        ("ell(0)", "an ell level of 0 coordinates is impossible"),
        ("(compressed, dia)", "a dia level is that of the columns of a matrix"),
        ("(dense, ell)", "unknown level type 'ell': use .*ell"),
    ],
)
def test_what_cannot_be_stored_is_refused(name, message):
    with pytest.raises(InputError, match=message):
        Tensor.from_dense(PAGE, name)


def test_results_are_dense_or_compressed():
    text = "tensor A[i, j] : csr\ntensor T[i, j] : ell(4)\nT[i, j] = 2 * A[i, j]\n"
    with pytest.raises(InputError, match="and ell\\(4\\) is a format of inputs alone"):
        parse(text)


@pytest.mark.parametrize("name", ["ell(3)", "ragged", "dia"])
def test_directories_of_sam_have_no_such_levels(name, tmp_path):
    with pytest.raises(InputError, match="convert the tensor to csr first"):
        write_tensor(tmp_path / "a", Tensor.from_dense(PAGE, name))
