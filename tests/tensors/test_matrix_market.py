import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from samhw.errors import InputError
from samhw.tensors import Tensor, read_tensor, write_tensor
from tests.tensors.malformed import assert_refused


def read(tmp_path, text):
    (tmp_path / "a.mtx").write_text(text)
    return read_tensor(tmp_path / "a.mtx")


@pytest.mark.parametrize(
    ("kind", "entries", "expected", "dtype"),
    [
        ("integer general", "2\n1 2 5\n2 1 -3\n", [[0, 5], [-3, 0]], np.int64),
        ("real general", "2\n1 2 5\n2 1 -3.5\n", [[0, 5], [-3.5, 0]], np.float64),
        ("Real General", "1\n\n  1 2\t5e0", [[0, 5], [0, 0]], np.float64),
        ("real general", "1\n1 2 5\n", [[0, 5], [0, 0]], np.float64),
        ("real symmetric", "2\n1 1 2\n2 1 3\n", [[2, 3], [3, 0]], np.float64),
        ("integer skew-symmetric", "1\n2 1 3\n", [[0, -3], [3, 0]], np.int64),
        ("pattern general", "2\n1 1\n2 1\n", [[1, 0], [1, 0]], np.int64),
        ("pattern symmetric", "1\n2 1\n", [[0, 1], [1, 0]], np.int64),
        ("integer general", "2\n1 1 2\n1 1 3\n", [[5, 0], [0, 0]], np.int64),
        ("integer general", "0\n", [[0, 0], [0, 0]], np.int64),
        ("real general", "0\n", [[0, 0], [0, 0]], np.float64),
    ],
)
def test_reading_by_hand(tmp_path, kind, entries, expected, dtype):
    tensor = read(tmp_path, f"%%MatrixMarket matrix coordinate {kind}\n% comment\n\n%\n2 2 {entries}")
    assert str(tensor.format) == "csr"
    assert tensor.dtype == dtype
    assert_array_equal(tensor.to_dense(), expected)


@pytest.mark.parametrize(
    ("symmetry", "values", "expected"),
    [
        ("general", "1 2 3 4", [[1, 3], [2, 4]]),
        ("symmetric", "1 2 3", [[1, 2], [2, 3]]),
        ("skew-symmetric", "2", [[0, -2], [2, 0]]),
    ],
)
def test_the_array_form_is_dense(tmp_path, symmetry, values, expected):
    header = f"%%MatrixMarket matrix array integer {symmetry}\n2 2\n"
    tensor = read(tmp_path, header + values.replace(" ", "\n"))
    assert str(tensor.format) == "dense"
    assert_array_equal(tensor.to_dense(), expected)
    assert_array_equal(tensor.to_dense(), scipy.io.mmread(tmp_path / "a.mtx"))


def test_the_array_form_of_more_columns_than_rows(tmp_path):
    write_tensor(tmp_path / "a.mtx", Tensor.from_dense(np.arange(6).reshape(2, 3), "dense @ (1, 0)"))
    assert (tmp_path / "a.mtx").read_text() == (
        "%%MatrixMarket matrix array integer general\n2 3\n0\n3\n1\n4\n2\n5\n"
    )
    assert_array_equal(read_tensor(tmp_path / "a.mtx").to_dense(), np.arange(6).reshape(2, 3))
    assert_array_equal(scipy.io.mmread(tmp_path / "a.mtx"), np.arange(6).reshape(2, 3))


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("sparse", [True, False])
def test_we_read_what_scipy_writes(tmp_path, symmetry, sparse):
    array = np.random.default_rng(0).standard_normal((6, 6))
    array[np.abs(array) < 0.7] = 0
    matrix = {"general": array, "symmetric": array + array.T, "skew-symmetric": array - array.T}[symmetry]
    scipy.io.mmwrite(
        tmp_path / "a.mtx", scipy.sparse.coo_array(matrix) if sparse else matrix, symmetry=symmetry
    )
    assert scipy.io.mminfo(tmp_path / "a.mtx")[5] == symmetry
    assert_array_equal(read_tensor(tmp_path / "a.mtx").to_dense(), matrix)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
def test_scipy_reads_what_we_write_and_the_reverse(tmp_path, dtype):
    matrix = scipy.sparse.random_array((7, 5), density=0.3, rng=np.random.default_rng(0), dtype=dtype)
    write_tensor(tmp_path / "a.mtx", Tensor.from_scipy(matrix, "csc"))
    assert_array_equal(
        scipy.sparse.coo_array(scipy.io.mmread(tmp_path / "a.mtx")).toarray(), matrix.toarray()
    )
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix)
    assert_array_equal(read_tensor(tmp_path / "a.mtx").to_dense().astype(dtype), matrix.toarray())


def test_an_empty_matrix_keeps_its_kind_of_values(tmp_path):
    write_tensor(tmp_path / "a.mtx", Tensor.from_dense(np.zeros((2, 3), np.int32), "csr"))
    tensor = read_tensor(tmp_path / "a.mtx")
    assert (tensor.shape, tensor.nnz, tensor.dtype) == ((2, 3), 0, np.int64)


GENERAL = "%%MatrixMarket matrix coordinate integer general\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "line 1 is not a Matrix Market banner"),
        ("1 2 3\n", "line 1 is not a Matrix Market banner"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1 is not a Matrix Market banner"),
        (GENERAL.replace("matrix ", "vector "), "line 1: object 'vector' is not supported: use matrix"),
        (GENERAL.replace("integer", "complex"), "line 1: field 'complex' is not supported: use real"),
        (GENERAL.replace("general", "hermitian"), "line 1: symmetry 'hermitian' is not supported"),
        (GENERAL.replace("coordinate integer", "array pattern") + "1 1\n1\n", "an array cannot be a pattern"),
        (GENERAL + "% only comments\n", "ends before its size line"),
        (GENERAL + "%\n2 2\n", "line 3 must be the size line, 'rows columns entries'"),
        (GENERAL + "2 2 -1\n", "line 2 must be the size line"),
        (GENERAL.replace("general", "symmetric") + "2 3 0\n", "line 2: a symmetric matrix must be square"),
        (GENERAL + "2 2 1\n% c\n1 x 5\n", "line 4: 'x' is not a number"),
        (GENERAL + "2 2 1\n3 1 5\n", "line 3: coordinate 3 of mode 0 is out of the range 1 to 2"),
        (GENERAL + "2 2 1\n1 0 5\n", "line 3: coordinates must be integers, counted from 1"),
        (GENERAL + "2 2 2\n1 1 5\n", "has 1 entries but its size line asks for 2"),
        (GENERAL + "2 2 1\n1 1 5\n1 2 5\n", "has 2 entries but its size line asks for 1"),
        (GENERAL + "2 2 1\n1 1 5 6\n", "line 3: 4 numbers where 3 are expected"),
        (GENERAL + "2 2 2\n1 1 5\n2 2 5 6\n", "line 4 has 4 numbers but the lines above 3"),
        (GENERAL + "2 2 2\n1 1 5\n2 2 5.5\n", "line 4: 5.5 is not an integer, as the banner says"),
        (GENERAL + "2 2 1\n1 1 99999999999999999999\n", "line 3: 99999999999999999999 takes more"),
        (GENERAL + f"2 2 {'9' * 5000}\n", "line 2 must be the size line"),
        (
            GENERAL.replace("general", "symmetric") + "3 3 3\n1 1 5\n1 2 5\n2 1 5\n",
            "line 4: the entry of row 1 and column 2 mirrors that of another line: a symmetric matrix has",
        ),
        (
            GENERAL.replace("general", "skew-symmetric") + "3 3 2\n2 1 5\n3 3 0\n",
            "line 4: a skew-symmetric matrix is zero on its diagonal",
        ),
        (
            GENERAL.replace("coordinate", "array") + "2 2\n1\n2\n3\n",
            "has 3 entries but its size line asks for 4",
        ),
    ],
)
def test_malformed_files_are_one_sentence(tmp_path, text, complaint):
    assert_refused(tmp_path / "a.mtx", text, complaint)


def test_only_matrices(tmp_path):
    with pytest.raises(InputError, match=r"cannot hold a tensor of rank 3: write a \.tns"):
        write_tensor(tmp_path / "a.mtx", Tensor.from_dense(np.ones((2, 2, 2)), "csf"))
    assert not list(tmp_path.iterdir())


@given(st.data(), st.sampled_from(["symmetric", "skew-symmetric"]))
def test_one_triangle_is_read_and_both_are_refused(tmp_path_factory, data, symmetry):
    size = 5
    pairs = [(row, column) for row in range(size) for column in range(row)]
    chosen = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    flips = data.draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen)))
    entries = [(c, r) if flip else (r, c) for (r, c), flip in zip(chosen, flips, strict=True)]
    path = tmp_path_factory.mktemp("mtx") / "a.mtx"

    def write(entries):
        lines = "".join(f"{row + 1} {column + 1} 3\n" for row, column in entries)
        banner = GENERAL.replace("general", symmetry)
        path.write_text(f"{banner}{size} {size} {len(entries)}\n{lines}")

    write(entries)
    expected = np.zeros((size, size), np.int64)
    for row, column in entries:
        expected[row, column] = 3
        expected[column, row] = 3 if symmetry == "symmetric" else -3
    assert_array_equal(read_tensor(path).to_dense(), expected)

    row, column = data.draw(st.sampled_from(entries))
    write([*entries, (column, row)])
    with pytest.raises(InputError, match=r"line \d+: the entry of row \d+ and column \d+ mirrors"):
        read_tensor(path)
