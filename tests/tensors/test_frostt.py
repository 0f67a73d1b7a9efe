import numpy as np
import pytest

from samhw.errors import InputError
from samhw.tensors import Tensor, read_tensor, write_tensor
from tests.tensors.malformed import assert_refused


def read(tmp_path, text):
    (tmp_path / "a.tns").write_text(text)
    return read_tensor(tmp_path / "a.tns")


def test_reading_by_hand(tmp_path):
    tensor = read(tmp_path, "# a comment\n3 1 2 1.5\n\n1 1 1 2 # another\n  3 1\t2 1e0\n")
    assert (tensor.shape, str(tensor.format)) == ((3, 1, 2), "csf")
    assert tensor.to_coo()[0].tolist() == [[0, 2], [0, 0], [0, 1]]
    assert tensor.vals.tolist() == [2.0, 2.5]
    assert tensor.dtype == np.float64


def test_integers_stay_integers(tmp_path):
    assert read(tmp_path, "1 -5\n2 6\n").dtype == np.int64
    assert read(tmp_path, "1 nan\n").dtype == np.float64
    assert read(tmp_path, "1 inf\n").dtype == np.float64
    assert read(tmp_path, "# e.g. integers\n1 5\n").dtype == np.int64


def test_stated_shape(tmp_path):
    assert read(tmp_path, "# shape: 4 5\n1 2 3\n").shape == (4, 5)
    empty = read(tmp_path, "# shape: 4 5\n")
    assert (empty.shape, empty.nnz) == ((4, 5), 0)


def test_writing_by_hand(tmp_path):
    write_tensor(tmp_path / "a.tns", Tensor.from_dense(np.array([[0, 7], [2, 0], [0, 0]]), "csc"))
    assert (tmp_path / "a.tns").read_text() == "# shape: 3 2\n1 2 7\n2 1 2\n"


def test_scalar(tmp_path):
    write_tensor(tmp_path / "a.tns", Tensor.from_dense(np.array(2.5), "scalar"))
    assert (tmp_path / "a.tns").read_text() == "# shape: \n2.5\n"
    assert read_tensor(tmp_path / "a.tns").to_dense() == 2.5


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 1 5\n# c\n\n1 x 5\n", "line 4: 'x' is not a number"),
        ("1 1 5\n1 2\n", "line 2 has 2 numbers but the lines above 3"),
        ("# c\n1 1 5\n0 1 5\n", "line 3: coordinates must be integers, counted from 1"),
        ("# shape: 2 2\n1 1 5\n\n1 3 5\n", "line 4: coordinate 3 of mode 1 is out of the range 1 to 2"),
        ("1 1.5 5\n", "line 1: coordinates must be integers"),
        ("1 1 5.5\n1 nan 5\n", "line 2: coordinates must be integers"),
        ("", "has no entries and states no shape"),
        ("# shape: 2 x\n", "'# shape: 2 x' does not parse"),
        ("# shape: 2 2\n1 5\n", "states a shape of rank 2 but has 1 coordinates a line"),
        ("1 1 99999999999999999999\n", "takes more than 64 bits"),
        ("1 1 5\n\x00\x01\n", "is not a number"),
    ],
)
def test_malformed_files_are_one_sentence(tmp_path, text, complaint):
    assert_refused(tmp_path / "a.tns", text, complaint)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.tns").write_bytes(b"1 1 \xff\xfe\n")
    with pytest.raises(InputError, match="line 1"):
        read_tensor(tmp_path / "a.tns")
