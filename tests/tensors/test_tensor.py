import ast
import doctest
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import samhw.tensors
from samhw.errors import InputError
from samhw.tensors import Format, Tensor
from samhw.tensors.formats.arrays import MAX_POSITIONS
from tests.support.strategies.tensors import coordinate_lists, formats, shapes, tensors

MATRIX = np.array([[0, 5, 0, 1], [0, 0, 0, 0], [7, 0, 8, 0]])


def lists(tensor):
    return {name: array.tolist() for name, array in tensor.arrays().items()}


@pytest.mark.parametrize(
    ("format", "arrays"),
    [
        ("dense", {"vals": [0, 5, 0, 1, 0, 0, 0, 0, 7, 0, 8, 0]}),
        ("dense @ (1, 0)", {"vals": [0, 0, 7, 5, 0, 0, 0, 0, 8, 1, 0, 0]}),
        ("csr", {"pos1": [0, 2, 2, 4], "crd1": [1, 3, 0, 2], "vals": [5, 1, 7, 8]}),
        ("csc", {"pos1": [0, 1, 2, 3, 4], "crd1": [2, 0, 2, 0], "vals": [7, 5, 8, 1]}),
        (
            "dcsr",
            {"pos0": [0, 2], "crd0": [0, 2], "pos1": [0, 2, 4], "crd1": [1, 3, 0, 2], "vals": [5, 1, 7, 8]},
        ),
        ("coo", {"pos0": [0, 4], "crd0": [0, 0, 2, 2], "crd1": [1, 3, 0, 2], "vals": [5, 1, 7, 8]}),
        ("(compressed, dense)", {"pos0": [0, 2], "crd0": [0, 2], "vals": [0, 5, 0, 1, 7, 0, 8, 0]}),
        (
            "bcsr(2)",
            {
                "pos1": [0, 2, 4],
                "crd1": [0, 1, 0, 1],
                "vals": [0, 5, 0, 0, 0, 1, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0],
            },
        ),
        (
            "bcsr(3) @ (1, 0)",
            {
                "pos1": [0, 1, 2],
                "crd1": [0, 0],
                "vals": [0, 0, 7, 5, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            },
        ),
    ],
)
def test_storage_by_hand(format, arrays):
    tensor = Tensor.from_dense(MATRIX, format)
    assert lists(tensor) == arrays
    assert tensor.nnz == len(arrays["vals"])
    tensor.check()
    assert_array_equal(tensor.to_dense(), MATRIX)


def test_storage_by_hand_of_rank_3():
    coords = np.array([[0, 0, 0, 2], [1, 1, 0, 1], [2, 0, 3, 2]])
    tensor = Tensor.from_coo(coords, [1, 2, 3, 4], (3, 2, 4), "csf")
    assert lists(tensor) == {
        "pos0": [0, 2],
        "crd0": [0, 2],
        "pos1": [0, 2, 3],
        "crd1": [0, 1, 1],
        "pos2": [0, 1, 3, 4],
        "crd2": [3, 0, 2, 2],
        "vals": [3, 2, 1, 4],
    }
    dcs = tensor.convert("(dense, compressed, singleton)")
    assert lists(dcs) == {
        "pos1": [0, 3, 3, 4],
        "crd1": [0, 1, 1, 1],
        "crd2": [3, 0, 2, 2],
        "vals": [3, 2, 1, 4],
    }


def test_a_singleton_below_a_dense_level_stores_one_point_in_each_row():
    tensor = Tensor.from_coo([[2, 0, 1], [1, 3, 1]], [7, 0, 8], (3, 4), "(dense, singleton)")
    assert lists(tensor) == {"crd1": [3, 1, 1], "vals": [0, 8, 7]}
    tensor.check()
    assert_array_equal(tensor.to_dense(), [[0, 0, 0, 0], [0, 8, 0, 0], [0, 7, 0, 0]])
    assert lists(tensor.convert("csr")) == {"pos1": [0, 1, 2, 3], "crd1": [3, 1, 1], "vals": [0, 8, 7]}
    assert [f.one_each for f in map(tensor.format.parse, ("csr", "coo"), (2, 2))] == [0, 0]
    assert tensor.format.one_each == 1


@pytest.mark.parametrize("rows", [[0, 1], [0, 1, 1], [0, 1, 1, 2]])
def test_a_singleton_below_a_dense_level_refuses_none_and_several(rows):
    with pytest.raises(InputError, match=r"exactly one point for each position .* none or several"):
        Tensor.from_coo([rows, range(len(rows))], [1] * len(rows), (3, 4), "(dense, singleton)")


def test_a_singleton_below_a_dense_level_may_have_levels_below():
    tensor = Tensor.from_coo(
        [[0, 0, 1], [2, 2, 0], [0, 3, 1]], [7, 8, 9], (2, 3, 4), "(dense, singleton, compressed)"
    )
    tensor.check()
    assert lists(tensor) == {"crd1": [2, 0], "pos2": [0, 2, 3], "crd2": [0, 3, 1], "vals": [7, 8, 9]}
    with pytest.raises(InputError, match="none or several"):
        Tensor.from_coo([[0, 0, 1], [2, 1, 0], [0, 3, 1]], [7, 8, 9], (2, 3, 4), tensor.format)


def test_levels_below_a_singleton_hang_off_distinct_tuples():
    coords = np.array([[0, 0, 0, 1], [1, 1, 2, 2], [0, 2, 1, 1]])
    tensor = Tensor.from_coo(coords, [1, 2, 3, 4], (2, 3, 3), "(compressed, singleton, compressed)")
    assert lists(tensor) == {
        "pos0": [0, 3],
        "crd0": [0, 0, 1],
        "crd1": [1, 2, 2],
        "pos2": [0, 2, 3, 4],
        "crd2": [0, 2, 1, 1],
        "vals": [1, 2, 3, 4],
    }


@given(st.data())
def test_from_coo_adds_up_duplicates_in_every_format(data):
    shape = data.draw(shapes())
    coords, vals = data.draw(coordinate_lists(shape, data.draw(st.sampled_from([np.int32, np.float64]))))
    expected = np.zeros(shape, vals.dtype)
    for coord, val in zip(coords.T.tolist(), vals, strict=True):
        expected[tuple(coord)] += val
    tensor = Tensor.from_coo(coords, vals, shape, data.draw(formats(len(shape))))
    tensor.check()
    assert tensor.dtype == vals.dtype
    assert_array_equal(tensor.to_dense(), expected)


@given(tensors(), st.data())
def test_conversion_keeps_values_and_dtype(tensor, data):
    other = tensor.convert(data.draw(formats(tensor.rank)))
    other.check()
    assert other.dtype == tensor.dtype
    assert_array_equal(other.to_dense(), tensor.to_dense())
    assert_array_equal(Tensor.from_dense(tensor.to_dense(), other.format).to_dense(), tensor.to_dense())


@given(tensors(), st.booleans())
def test_to_coo_is_sorted_and_complete(tensor, drop_zeros):
    coords, vals = tensor.to_coo(drop_zeros=drop_zeros)
    entries = [tuple(coord) for coord in coords.T.tolist()]
    assert entries == sorted(set(entries))
    dense = np.zeros(tensor.shape, tensor.dtype)
    for coord, val in zip(entries, vals, strict=True):
        dense[coord] = val
    assert_array_equal(dense, tensor.to_dense())
    if drop_zeros:
        assert vals.all()


@given(tensors())
def test_arrays_are_the_whole_storage(tensor):
    again = Tensor.from_arrays(tensor.shape, str(tensor.format), tensor.arrays())
    assert lists(again) == lists(tensor)


def test_explicit_zeros_stay_in_compressed_levels_only():
    tensor = Tensor.from_coo([[0, 1, 1], [0, 0, 1]], [0, 4, 0], (2, 2), "csr")
    assert lists(tensor)["vals"] == [0, 4, 0]
    assert lists(tensor.convert("dcsc"))["vals"] == [0, 4, 0]
    assert tensor.to_scipy().nnz == 3
    assert tensor.to_coo()[1].tolist() == [0, 4, 0]
    assert tensor.to_coo(drop_zeros=True)[1].tolist() == [4]
    assert lists(tensor.convert("(compressed, dense)"))["vals"] == [0, 0, 4, 0]
    assert lists(tensor.convert("dense").convert("csr"))["vals"] == [4]
    assert lists(tensor.convert("bcsr(2)").convert("csr"))["vals"] == [4]


def test_to_coo_of_dense_levels_includes_zeros_but_no_padding():
    tensor = Tensor.from_dense(MATRIX, "bcsr(3)")
    coords, vals = tensor.to_coo()
    assert coords.shape == (2, 12)
    assert_array_equal(vals, MATRIX.reshape(-1))


def test_dense_conversion_preserves_every_bit():
    array = np.array([[-0.0, 1.0], [np.nan, 0.0]])
    tensor = Tensor.from_dense(array, "dense").convert("dense @ (1, 0)")
    assert tensor.vals.tobytes() == array.T.tobytes()
    assert tensor.to_dense().tobytes() == array.tobytes()


def test_dense_in_a_mode_order_that_is_not_its_own_inverse():
    array = np.arange(24).reshape(2, 3, 4)
    tensor = Tensor.from_dense(array, "dense @ (2, 0, 1)")
    assert_array_equal(tensor.vals, array.transpose(2, 0, 1).reshape(-1))
    assert_array_equal(tensor.to_dense(), array)


def test_duplicates_are_added_up_in_the_order_given():
    rng = np.random.default_rng(0)
    places, vals = rng.integers(0, 5, 300), rng.standard_normal(300).astype(np.float32)
    expected = np.zeros(5, np.float32)
    np.add.at(expected, places, vals)
    assert_array_equal(Tensor.from_coo([places], vals, (5,), "csf").to_dense(), expected)


def test_tensors_do_not_share_memory_with_their_source():
    array = np.ones((2, 2))
    tensor = Tensor.from_dense(array, "dense")
    array[0, 0] = 5
    tensor.to_dense()[0, 0] = 6
    assert tensor.vals.tolist() == [1, 1, 1, 1]
    sparse = tensor.convert("csr")
    sparse.to_scipy().data[0] = 7
    assert sparse.vals.tolist() == [1, 1, 1, 1]


def test_size_zero():
    tensor = Tensor.from_dense(np.zeros((0, 3)), "csr")
    tensor.check()
    assert lists(tensor) == {"pos1": [0], "crd1": [], "vals": []}
    assert tensor.convert("csc").to_dense().shape == (0, 3)


def test_scalar():
    tensor = Tensor.from_dense(np.array(3.5), "scalar")
    assert (tensor.levels, tensor.vals.tolist()) == ((), [3.5])
    assert Tensor.from_coo(np.zeros((0, 2), int), [1, 2], (), "scalar").vals.tolist() == [3]
    assert tensor.to_coo()[0].shape == (0, 1)
    assert repr(tensor) == "<Tensor scalar scalar, 1 values of float64>"


def test_shapes_whose_places_exceed_int64_still_sort():
    size = 2**40
    coords = np.array([[5, 5, size - 1, 0], [size - 1, 2, 0, 7]])
    tensor = Tensor.from_coo(coords, [1, 2, 3, 4], (size, size), "dcsr")
    tensor.check()
    assert tensor.vals.tolist() == [4, 2, 1, 3]
    assert tensor.to_coo()[0].tolist() == [[0, 5, 5, size - 1], [7, 2, size - 1, 0]]


@given(tensors(shape=(4, 3)))
def test_scipy_round_trip(tensor):
    matrix = tensor.to_scipy()
    assert matrix.format == "csr"
    assert matrix.dtype == tensor.dtype
    assert matrix.has_canonical_format
    assert_array_equal(matrix.toarray(), tensor.to_dense())
    again = Tensor.from_scipy(matrix, tensor.format)
    assert_array_equal(again.to_dense(), tensor.to_dense())


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_from_scipy_takes_every_layout(layout):
    tensor = Tensor.from_scipy(scipy.sparse.csr_array(MATRIX).asformat(layout), "dcsc")
    assert_array_equal(tensor.to_dense(), MATRIX)


def test_from_scipy_adds_up_duplicates_and_keeps_zeros():
    matrix = scipy.sparse.coo_matrix(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert lists(Tensor.from_scipy(matrix, "csr"))["vals"] == [3, 0]


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: Tensor.from_coo([[0], [3]], [1], (2, 3), "csr"), "coordinate 3 in mode 1"),
        (lambda: Tensor.from_coo([[-1], [0]], [1], (2, 3), "csr"), "coordinate -1 in mode 0"),
        (lambda: Tensor.from_coo([[0, 1]], [1], (2,), "csf"), "need shape (1, 1)"),
        (lambda: Tensor.from_coo([[0.5]], [1], (2,), "csf"), "must be integers"),
        (lambda: Tensor.from_coo([[0]], [[1]], (2,), "csf"), "list of numbers"),
        (lambda: Tensor.from_coo([[0]], ["x"], (2,), "csf"), "not supported"),
        (lambda: Tensor.from_coo([[0]], [1j], (2,), "csf"), "not supported"),
        (lambda: Tensor.from_coo([[0]], [1], (-2,), "csf"), "negative"),
        (lambda: Tensor.from_coo([[0]], [1], (2.5,), "csf"), "must be integers"),
        (lambda: Tensor.from_dense(np.zeros((2, 2)), Format.parse("csf", 3)), "rank 3"),
        (lambda: Tensor.from_dense(np.zeros((2, 2)), "csf @ (0)"), "1 modes"),
        (lambda: Tensor.from_scipy(np.zeros((2, 2)), "csr"), "ndarray is not a SciPy sparse matrix"),
        (lambda: Tensor.from_dense(np.zeros(2), "dense").to_scipy(), "rank 1"),
        (lambda: Tensor.from_dense(np.zeros(2), "dense").convert("csr"), "rank 1"),
    ],
)
def test_bad_input_is_one_sentence(build, complaint):
    with pytest.raises(InputError) as caught:
        build()
    assert complaint in str(caught.value)


def test_dense_levels_that_cannot_be_meant_are_refused():
    shape = (2**20, MAX_POSITIONS // 2**20 + 1)
    tensor = Tensor.from_coo([[0], [0]], [1], shape, "csr")
    with pytest.raises(InputError, match="use compressed levels"):
        tensor.convert("dense")
    with pytest.raises(InputError, match="use compressed levels"):
        tensor.to_dense()
    with pytest.raises(InputError, match="at level 1 would store"):
        Tensor.from_coo(np.zeros((3, 0), int), [], (*shape, 2), "(dense, dense, compressed)")


def test_the_example_of_the_package_runs():
    results = doctest.testmod(samhw.tensors)
    assert (results.failed, results.attempted) == (0, 6)


def test_the_folder_imports_nothing_of_samhw_but_its_floor():
    for path in Path(samhw.tensors.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                below = (
                    "samhw.tensors",
                    "samhw.tensors.formats",
                    "samhw.errors",
                    "samhw.files",
                    "samhw.limits",
                    "samhw.words",
                )
                assert not name.startswith("samhw") or name.startswith(below), path
                assert not name.startswith("hypothesis") or path.name == "strategies.py", path
