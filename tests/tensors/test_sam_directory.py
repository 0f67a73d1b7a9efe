import os

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from samhw.errors import InputError
from samhw.tensors import Tensor, read_tensor, write_tensor
from tests.support.strategies.tensors import tensors

# As SAM's scripts write [[0, 5, 0], [0, 0, 0], [7, 0, 8]] as "ss01" and as "ss10": the number of a file is
# that of the mode, and there is no newline at the end.
ROWS_FIRST = {
    "tensor_B_mode_shape": "3\n3",
    "tensor_B_mode_0_seg": "0\n2",
    "tensor_B_mode_0_crd": "0\n2",
    "tensor_B_mode_1_seg": "0\n1\n3",
    "tensor_B_mode_1_crd": "1\n0\n2",
    "tensor_B_mode_vals": "5.0\n7.0\n8.0",
}
COLUMNS_FIRST = {
    "tensor_C_mode_shape": "3\n3",
    "tensor_C_mode_1_seg": "0\n3",
    "tensor_C_mode_1_crd": "0\n1\n2",
    "tensor_C_mode_0_seg": "0\n1\n2\n3",
    "tensor_C_mode_0_crd": "2\n0\n2",
    "tensor_C_mode_vals": "7\n5\n8",
}
MATRIX = [[0, 5, 0], [0, 0, 0], [7, 0, 8]]


def directory(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_reading_what_sam_writes(tmp_path):
    path = directory(tmp_path, ROWS_FIRST | COLUMNS_FIRST)
    b, c = read_tensor(path, name="B"), read_tensor(path, name="C")
    assert (str(b.format), b.dtype) == ("dcsr", np.float64)
    assert (str(c.format), c.dtype) == ("dcsc", np.int64)
    assert_array_equal(b.to_dense(), MATRIX)
    assert_array_equal(c.to_dense(), MATRIX)


def test_a_dense_mode_has_no_files(tmp_path):
    path = directory(
        tmp_path,
        {
            "tensor_d_mode_shape": "2\n3",
            "tensor_d_mode_1_seg": "0\n1\n3",
            "tensor_d_mode_1_crd": "1\n0\n2",
            "tensor_d_mode_vals": "5\n7\n8",
        },
    )
    tensor = read_tensor(path)
    assert str(tensor.format) == "csr"
    assert_array_equal(tensor.to_dense(), [[0, 5, 0], [7, 0, 8]])


def test_writing_by_hand(tmp_path):
    tensor = Tensor.from_dense(np.array(MATRIX), "csc")
    write_tensor(tmp_path / "dir", tensor, name="C")
    texts = {file.name: file.read_text() for file in (tmp_path / "dir").iterdir()}
    assert texts == {
        "tensor_C_mode_format": "csc\n",
        "tensor_C_mode_shape": "3\n3\n",
        "tensor_C_mode_0_seg": "0\n1\n2\n3\n",
        "tensor_C_mode_0_crd": "2\n0\n2\n",
        "tensor_C_mode_vals": "7\n5\n8\n",
    }


def test_one_directory_holds_several_tensors(tmp_path):
    a, b = Tensor.from_dense(np.array(MATRIX), "dcsr"), Tensor.from_dense(np.eye(2), "dense")
    for tensor, name in ((a, "A"), (a, "A_mode"), (a, "A"), (a, "B"), (b, "B")):
        write_tensor(tmp_path / "dir", tensor, name=name)
    for name in ("A", "A_mode"):
        assert_array_equal(read_tensor(tmp_path / "dir", name=name).to_dense(), MATRIX)
    assert_array_equal(read_tensor(tmp_path / "dir", name="B").to_dense(), np.eye(2))
    assert sorted(file.name for file in (tmp_path / "dir").glob("tensor_B_*")) == [
        "tensor_B_mode_format",
        "tensor_B_mode_shape",
        "tensor_B_mode_vals",
    ]
    with pytest.raises(InputError, match="holds the tensors A, A_mode, B: name one of them"):
        read_tensor(tmp_path / "dir")
    with pytest.raises(InputError, match="holds no tensor C: it has A, A_mode, B"):
        read_tensor(tmp_path / "dir", name="C")
    assert os.listdir(tmp_path) == ["dir"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sam")


@given(tensors(blocked=False))
def test_the_natural_mode_order_is_deduced(folder, tensor):
    natural = tuple(range(tensor.rank))
    tensor = tensor.convert(type(tensor.format)(tensor.format.levels, natural))
    write_tensor(folder / "dir", tensor)
    (folder / "dir" / "tensor_B_mode_format").unlink()
    again = read_tensor(folder / "dir")
    assert again.format == tensor.format
    assert_array_equal(again.to_dense(), tensor.to_dense())


# Two entries, each the only one of its fiber: modes 1 and 2 have arrays of the same lengths.
AMBIGUOUS = {
    "tensor_B_mode_shape": "2\n2\n2",
    "tensor_B_mode_2_seg": "0\n2",
    "tensor_B_mode_2_crd": "0\n1",
    "tensor_B_mode_0_seg": "0\n1\n2",
    "tensor_B_mode_0_crd": "0\n1",
    "tensor_B_mode_1_seg": "0\n1\n2",
    "tensor_B_mode_1_crd": "1\n0",
    "tensor_B_mode_vals": "5\n6",
}


def test_an_ambiguous_mode_order_must_be_named(tmp_path):
    path = directory(tmp_path, AMBIGUOUS)
    with pytest.raises(InputError, match="several mode orders fit the files"):
        read_tensor(path)
    (path / "tensor_B_mode_format").write_text("csf @ (2, 0, 1)\n")
    assert read_tensor(path).to_coo()[0].tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"tensor_B_mode_vals": None}, "tensor_B_mode_vals is missing"),
        ({"tensor_B_mode_shape": None}, "holds no tensor"),
        ({"tensor_B_mode_1_crd": None}, "mode 1 has a seg file but no crd file"),
        ({"tensor_B_mode_1_crd": "1\nx\n2"}, "tensor_B_mode_1_crd line 2: 'x' is not a number"),
        ({"tensor_B_mode_1_crd": "1\n0.5\n2"}, "crd1 must be integers"),
        ({"tensor_B_mode_1_crd": "1\n0\n3"}, "crd1 entry 2 is 3"),
        ({"tensor_B_mode_0_seg": "0\n1\n2\n2"}, "no mode order fits the lengths"),
        ({"tensor_B_mode_vals": "5\n7"}, "no mode order fits the lengths"),
        ({"tensor_B_mode_1_seg": "0\n4\n3"}, "pos1 must not decrease"),
        ({"tensor_B_mode_shape": "3\n-3"}, "negative"),
        ({"tensor_B_mode_shape": "3\n3.5"}, "must be integers"),
        ({"tensor_B_mode_format": "csr"}, "format csr has no array crd0"),
        ({"tensor_B_mode_format": "csx"}, "unknown format 'csx'"),
        ({"tensor_B_mode_format": "bcsr(2)"}, "tensor B"),
    ],
)
def test_malformed_directories_are_one_sentence(tmp_path, changes, complaint):
    files = {name: text for name, text in (ROWS_FIRST | changes).items() if text is not None}
    with pytest.raises(InputError) as caught:
        read_tensor(directory(tmp_path, files))
    assert str(tmp_path) in str(caught.value)
    assert complaint in str(caught.value)


def test_what_a_directory_cannot_hold(tmp_path):
    with pytest.raises(InputError, match="no form for blocks: convert the tensor to csr"):
        write_tensor(tmp_path / "dir", Tensor.from_dense(np.eye(2), "bcsr(2)"))
    with pytest.raises(InputError, match=r"'\.\./B' cannot name a tensor"):
        write_tensor(tmp_path / "dir", Tensor.from_dense(np.eye(2), "csr"), name="../B")
    assert not list(tmp_path.iterdir())
