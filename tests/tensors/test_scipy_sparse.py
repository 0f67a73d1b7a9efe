"""SciPy's matrices, whose arrays anybody may change: what is no longer a matrix is refused before C code
of SciPy follows its indices."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from samhw.errors import InputError
from samhw.tensors import Tensor

MATRIX = np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 4, 5]])


def put(name: str, value: Any, at: int | None = None) -> Any:
    """A change of one of the arrays of a matrix."""

    def change(matrix: Any) -> None:
        array = np.array(getattr(matrix, name))
        if at is None:
            array = np.array(value)
        else:
            array[at] = value
        setattr(matrix, name, array)

    return change


def replaced(name: str, at: int, row: Any) -> Any:
    """Another list for a row of a `lil`."""
    return lambda matrix: getattr(matrix, name).__setitem__(at, row)


def entered(key: Any) -> Any:
    """One entry more in a `dok`."""
    return lambda matrix: matrix._dict.__setitem__(key, 1)


def row_of_coo(array: Any) -> Any:
    """Other rows for a `coo`."""
    return lambda matrix: setattr(matrix, "coords", (np.array(array), matrix.coords[1]))


DAMAGES: list[tuple[str, Any, str]] = [
    ("csr", put("indptr", 77, at=1), "indptr must not decrease"),
    ("csr", put("indptr", -5, at=1), "indptr must not decrease"),
    ("csr", put("indptr", 1, at=0), "indptr must have 4 entries, the first of which is 0"),
    ("csr", put("indptr", 99, at=3), "there must be 99 indices and as many values"),
    ("csr", put("indptr", [0, 2]), "indptr must have 4 entries"),
    ("csr", put("indptr", [0.0, 2, 2, 5]), "indptr must be a list of integers"),
    ("csr", put("indices", 4, at=2), "indices must be from 0 to 3"),
    ("csr", put("indices", -1, at=2), "indices must be from 0 to 3"),
    ("csr", put("indices", [0, 1]), "there must be 5 indices and as many values"),
    ("csr", put("data", [[1, 2]]), "as many values"),
    ("csr", put("indices", list("abcde")), "indices must be a list of integers"),
    ("csc", put("indptr", 77, at=1), "indptr must not decrease"),
    ("csc", put("indices", 3, at=2), "indices must be from 0 to 2"),
    ("bsr", put("indptr", 77, at=1), "indptr must not decrease"),
    ("bsr", put("indices", 9, at=0), "indices must be from 0 to 3"),
    ("bsr", put("data", [[1, 2]]), "not a valid SciPy sparse matrix"),
    ("coo", row_of_coo([0, 0, 2, 2, 7]), "entry 4 has coordinate 7 in mode 0, outside the shape"),
    ("coo", row_of_coo([0, 0, 2, 2, -1]), "entry 4 has coordinate -1"),
    ("coo", row_of_coo([0, 0, 2]), "not a valid SciPy sparse matrix"),
    ("coo", row_of_coo([0.5, 0, 2, 2, 2]), "the coordinates must be integers"),
    ("dia", put("offsets", [0, 1]), "do not go with offsets"),
    ("dia", put("data", [1, 2, 3]), "do not go with offsets"),
    ("dia", put("offsets", 1, at=0), "an offset is there twice"),
    ("lil", replaced("rows", 0, [1, 9]), "entry 1 has coordinate 9 in mode 1"),
    ("lil", replaced("rows", 0, [1, 2, 3]), "as long as each other"),
    ("lil", replaced("data", 2, [1]), "as long as each other"),
    ("lil", replaced("rows", 1, None), "not a valid SciPy sparse matrix"),
    ("lil", replaced("rows", 0, ["a", "b"]), "not a valid SciPy sparse matrix"),
    ("dok", entered((9, 0)), "axis 0 index 9 exceeds"),
    ("dok", entered((-1, 0)), "negative axis 0 index"),
    ("dok", entered("ab"), "not a valid SciPy sparse matrix"),
]


@pytest.mark.parametrize("container", ["array", "matrix"])
@pytest.mark.parametrize(("kind", "change", "sentence"), DAMAGES)
def test_what_is_no_matrix_any_more_is_refused(kind: str, change: Any, sentence: str, container: str) -> None:
    matrix = getattr(sp, f"{kind}_{container}")(MATRIX)
    np.testing.assert_array_equal(Tensor.from_scipy(matrix, "csr").to_dense(), MATRIX)
    change(matrix)
    with pytest.raises(InputError, match=sentence):
        Tensor.from_scipy(matrix, "csr")


def test_what_is_unusual_is_taken() -> None:
    """Unsorted indices, duplicates, room after the end, unsigned indices, and rows without any."""
    matrix = sp.csr_array(MATRIX)
    matrix.indices = np.array([3, 1, 0, 2, 3, 99, 1], np.uint32)
    matrix.data = np.array([2, 1, 3, 4, 5, 7, 7])
    np.testing.assert_array_equal(Tensor.from_scipy(matrix, "csr").to_dense(), MATRIX)
    assert len(matrix.data) == 7
    line = sp.csr_array(MATRIX[2])
    np.testing.assert_array_equal(Tensor.from_scipy(line, "dense").to_dense(), MATRIX[2])
    blocks = sp.bsr_array(np.arange(24).reshape(4, 6), blocksize=(2, 3))
    np.testing.assert_array_equal(Tensor.from_scipy(blocks, "csr").to_dense(), np.arange(24).reshape(4, 6))
    twice = sp.coo_array(([1, 2, 4], ([0, 0, 2], [1, 1, 3])), shape=(3, 4))
    assert Tensor.from_scipy(twice, "csr").to_dense()[0, 1] == 3
    lil = sp.lil_array((0, 4))
    assert Tensor.from_scipy(lil, "csr").shape == (0, 4)
    cube = sp.coo_array(np.arange(8).reshape(2, 2, 2))
    np.testing.assert_array_equal(Tensor.from_scipy(cube, "csf").to_dense(), np.arange(8).reshape(2, 2, 2))
