"""What all file forms share; each has its own tests beside."""

import os
import stat

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from samhw.errors import InputError
from samhw.tensors import Tensor, read_tensor, write_tensor
from tests.support.strategies.tensors import tensors

MATRIX = np.array([[0, 5, 0, 1], [0, 0, 0, 0], [7, 0, 8, 0]])
FORMATS = ["dense", "dense @ (1, 0)", "csr", "csc", "dcsr", "dcsc", "coo", "(compressed, dense)", "bcsr(2)"]
PATHS = ["a.mtx", "a.tns", "a.npz", "a"]


def holds_blocks(path, format):
    return "." in path or "bcsr" not in format


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize(
    ("path", "format"), [(path, format) for path in PATHS for format in FORMATS if holds_blocks(path, format)]
)
def test_every_form_keeps_every_format(tmp_path, path, format, dtype):
    tensor = Tensor.from_dense(MATRIX.astype(dtype) / 3 if dtype is np.float64 else MATRIX, format)
    write_tensor(tmp_path / path, tensor)
    again = read_tensor(tmp_path / path, format)
    again.check()
    assert again.dtype == dtype
    assert str(again.format) == format
    assert_array_equal(again.to_dense(), tensor.to_dense())
    assert os.listdir(tmp_path) == [path]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@given(tensors(blocked=False))
def test_own_forms_keep_all_that_is_stored(folder, tensor):
    for path in ("a.npz", "a"):
        write_tensor(folder / path, tensor)
        again = read_tensor(folder / path)
        assert (again.shape, again.format) == (tensor.shape, tensor.format)
        for name, array in tensor.arrays().items():
            assert_array_equal(again.arrays()[name], array)


@given(tensors())
def test_coordinate_forms_keep_every_value(folder, tensor):
    for path in ("a.tns", "a.mtx") if tensor.rank == 2 else ("a.tns",):
        write_tensor(folder / path, tensor)
        again = read_tensor(folder / path, tensor.format)
        assert again.shape == tensor.shape
        assert_array_equal(again.to_dense(), tensor.to_dense())


@pytest.mark.parametrize("path", PATHS)
def test_floating_point_values_come_back_exactly(tmp_path, path):
    vals = [0.1 + 0.2, -1 / 3, 1e-320, 1.7976931348623157e308, np.inf, -np.inf, np.nan, 2.0**60]
    write_tensor(tmp_path / path, Tensor.from_coo([[0] * 8, range(8)], vals, (1, 8), "csr"))
    assert_array_equal(read_tensor(tmp_path / path).vals, vals)


@pytest.mark.parametrize("path", PATHS)
def test_integers_beyond_the_reach_of_floating_point_come_back_exactly(tmp_path, path):
    vals = [2**53 + 1, -(2**62) - 1]
    write_tensor(tmp_path / path, Tensor.from_coo([[0, 1], [1, 0]], vals, (2, 2), "csr"))
    assert read_tensor(tmp_path / path).vals.tolist() == vals


@pytest.mark.parametrize("path", ["a.mtx", "a.tns", "a"])
def test_text_forms_write_booleans_as_integers(tmp_path, path):
    write_tensor(tmp_path / path, Tensor.from_dense(MATRIX != 0, "csr"))
    tensor = read_tensor(tmp_path / path)
    assert tensor.dtype == np.int64
    assert_array_equal(tensor.to_dense(), MATRIX != 0)


@pytest.mark.parametrize("path", PATHS)
def test_explicit_zeros_survive(tmp_path, path):
    write_tensor(tmp_path / path, Tensor.from_coo([[0, 1], [1, 0]], [0, 4], (2, 2), "csr"))
    assert read_tensor(tmp_path / path).vals.tolist() == [0, 4]


@pytest.mark.parametrize("path", PATHS)
def test_writing_replaces_and_respects_the_umask(tmp_path, path):
    write_tensor(tmp_path / path, Tensor.from_dense(MATRIX, "dcsr"))
    write_tensor(tmp_path / path, Tensor.from_dense(2 * MATRIX, "csr"))
    assert_array_equal(read_tensor(tmp_path / path).to_dense(), 2 * MATRIX)
    (tmp_path / "plain").touch()
    target = tmp_path / path
    file = target / "tensor_B_mode_vals" if target.is_dir() else target
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.mark.parametrize("path", PATHS)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, path, monkeypatch):
    write_tensor(tmp_path / path, Tensor.from_dense(MATRIX, "csr"))

    def fail(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_tensor(tmp_path / path, Tensor.from_dense(2 * MATRIX, "dense"))
    assert os.listdir(tmp_path) == [path]
    assert_array_equal(read_tensor(tmp_path / path).to_dense(), MATRIX)


@pytest.mark.parametrize("path", PATHS)
def test_a_missing_parent_is_one_sentence(tmp_path, path):
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        write_tensor(tmp_path / "missing" / path, Tensor.from_dense(MATRIX, "csr"))


def test_unknown_suffix(tmp_path):
    (tmp_path / "a.csv").touch()
    for use in (read_tensor, lambda path: write_tensor(path, Tensor.from_dense(MATRIX, "csr"))):
        with pytest.raises(InputError, match=r"a\.csv has an unknown suffix '\.csv': name a \.mtx, \.tns"):
            use(tmp_path / "a.csv")


@pytest.mark.parametrize("path", PATHS)
def test_missing_file(tmp_path, path):
    with pytest.raises(InputError, match="does not exist"):
        read_tensor(tmp_path / path)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "a.tns"
    path.write_text("1 1\n")

    def fail(self, *_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", fail)
    with pytest.raises(InputError, match=r"a\.tns cannot be read: Permission denied"):
        read_tensor(path)


def test_a_format_of_another_rank_is_refused(tmp_path):
    write_tensor(tmp_path / "a.tns", Tensor.from_dense(np.ones((2, 2, 2)), "csf"))
    with pytest.raises(InputError, match="rank 3"):
        read_tensor(tmp_path / "a.tns", "csr")
