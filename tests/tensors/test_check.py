import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samhw.errors import InputError
from samhw.tensors import Format, Tensor
from tests.support.strategies.tensors import tensors

MATRIX = np.array([[0, 5, 0, 1], [0, 0, 0, 0], [7, 0, 8, 0]])


@pytest.mark.parametrize(
    ("format", "name", "array", "complaint"),
    [
        ("csr", "pos1", [0, 2, 2], "pos1 has shape (3,) but the levels above it ask for 4 entries"),
        ("csr", "pos1", [1, 2, 2, 4], "pos1 runs from 1 to 4 but must run from 0 to 4"),
        ("csr", "pos1", [0, 2, 2, 3], "pos1 runs from 0 to 3"),
        ("csr", "pos1", [0, 3, 2, 4], "pos1 must not decrease, but entry 2 is 2 after 3"),
        ("csr", "pos1", [0.0, 2, 2, 4], "pos1 must be integers"),
        ("csr", "pos1", [[0, 2, 2, 4]], "pos1 has shape (1, 4)"),
        ("csr", "crd1", [1, 4, 0, 2], "crd1 entry 1 is 4 but coordinates there run from 0 to 3"),
        ("csr", "crd1", [-1, 3, 0, 2], "crd1 entry 0 is -1"),
        ("csr", "crd1", [3, 1, 0, 2], "entry 1 is (1,) after (3,)"),
        ("csr", "crd1", [1, 1, 0, 2], "entry 1 is (1,) after (1,)"),
        ("csr", "vals", [5, 1, 7], "vals has shape (3,) but the levels above it ask for 4 entries"),
        ("coo", "crd0", [2, 0, 2, 2], "entry 1 is (0, 3) after (2, 1)"),
        (
            "coo",
            "crd0",
            [0, 2, 0, 2],
            "crd0 must increase within a fiber, but entry 2 is (0, 0) after (2, 3)",
        ),
        (
            "coo",
            "crd1",
            [3, 1, 0, 2],
            "crd0 must increase within a fiber, but entry 1 is (0, 1) after (0, 3)",
        ),
        ("coo", "crd1", [1, 1, 0, 2], "entry 1 is (0, 1) after (0, 1)"),
        ("coo", "crd1", [1, 3, 0], "crd1 has shape (3,) but the levels above it ask for 4 entries"),
        ("coo", "crd1", [1, 4, 0, 2], "crd1 entry 1 is 4"),
        ("dense", "vals", [1, 2], "ask for 12 entries"),
    ],
)
def test_malformed_storage_is_named(format, name, array, complaint):
    tensor = Tensor.from_dense(MATRIX, format)
    with pytest.raises(InputError) as caught:
        Tensor.from_arrays(tensor.shape, format, tensor.arrays() | {name: np.array(array)})
    assert complaint in str(caught.value)


@pytest.mark.parametrize("name", ["pos1", "crd1", "vals"])
def test_missing_arrays_are_named(name):
    arrays = Tensor.from_dense(MATRIX, "csr").arrays()
    del arrays[name]
    with pytest.raises(InputError, match=f"array {name} is missing"):
        Tensor.from_arrays((3, 4), "csr", arrays)


def test_extra_arrays_are_named():
    arrays = Tensor.from_dense(MATRIX, "dcsr").arrays()
    with pytest.raises(InputError, match="format csr has no array crd0"):
        Tensor.from_arrays((3, 4), "csr", arrays)


def test_levels_must_match_shape_and_format():
    tensor = Tensor.from_dense(MATRIX, "csr")
    with pytest.raises(InputError, match="level 0 has size 3 but the shape"):
        dataclasses.replace(tensor, shape=(4, 4)).check()
    with pytest.raises(InputError, match="not those of format csr"):
        dataclasses.replace(tensor, levels=Tensor.from_dense(MATRIX, "dense").levels).check()
    with pytest.raises(InputError, match="rank 2"):
        dataclasses.replace(tensor, shape=(3, 4, 1)).check()


@given(tensors(shape=(3, 4), format=Format.parse("csr", 2)), st.data())
def test_any_swap_of_two_coordinates_in_a_fiber_is_found(tensor, data):
    arrays = tensor.arrays()
    fibers = np.flatnonzero(np.diff(arrays["pos1"]) >= 2)
    assume(fibers.size)
    start = arrays["pos1"][data.draw(st.sampled_from(fibers.tolist()))]
    crd = arrays["crd1"].copy()
    crd[[start, start + 1]] = crd[[start + 1, start]]
    with pytest.raises(InputError, match="crd1 must increase"):
        Tensor.from_arrays(tensor.shape, tensor.format, arrays | {"crd1": crd})
