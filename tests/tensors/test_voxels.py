"""Kernel maps, against dense convolutions of the same voxels."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload
from samhw.errors import InputError
from samhw.lang import load_kernel
from samhw.targets.backends import run
from samhw.tensors import Tensor, kernel_map

SIDE = 6


@st.composite
def voxels(draw: st.DrawFn, dimensions: int) -> np.ndarray:
    places = st.tuples(*[st.integers(0, SIDE - 1)] * dimensions)
    return np.array(draw(st.lists(places, min_size=1, max_size=20, unique=True)))


def offsets(size: int, dimensions: int) -> list[tuple[int, ...]]:
    first = -(size // 2) if size % 2 else 0
    return list(product(range(first, first + size), repeat=dimensions))


@given(
    st.data(),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(
        [("submanifold", 1), ("strided", 1), ("strided", 2), ("transposed", 2), ("transposed", 3)]
    ),
)
def test_each_pair_is_there_and_no_other(
    data: st.DataObject, dimensions: int, size: int, way: tuple[str, int]
) -> None:
    kind, stride = way
    inputs = data.draw(voxels(dimensions))
    if kind == "strided" and not _pairs(inputs, offsets(size, dimensions), stride, kind):
        with pytest.raises(InputError, match="brings any input to a multiple"):
            kernel_map(inputs, size=size, stride=stride, kind=kind)
        return
    found = kernel_map(inputs, size=size, stride=stride, kind=kind)
    dense = found.matrix.to_dense()
    where = {tuple(place): number for number, place in enumerate(inputs.tolist())}
    reached = np.zeros(len(found.outputs), bool)
    for d, offset in enumerate(offsets(size, dimensions)):
        assert dense[d].sum(axis=0).max(initial=0) <= 1
        assert dense[d].sum(axis=1).max(initial=0) <= 1
        for i, place in enumerate(found.outputs.tolist()):
            if kind == "transposed":
                moved = np.subtract(place, offset)
                source = None if (moved % stride).any() else where.get(tuple((moved // stride).tolist()))
            else:
                source = where.get(tuple((stride * np.array(place) + offset).tolist()))
            assert dense[d, i].nonzero()[0].tolist() == ([] if source is None else [source])
            reached[i] |= source is not None
    if kind == "submanifold":
        assert np.array_equal(found.outputs, inputs)
    else:
        assert reached.all()
        assert dense.sum() == _pairs(inputs, offsets(size, dimensions), stride, kind)


def _pairs(inputs: np.ndarray, every: list[tuple[int, ...]], stride: int, kind: str) -> int:
    """How many offsets bring an input to a place at all."""
    if kind == "transposed":
        return len(inputs) * len(every)
    return sum(not ((place - np.array(offset)) % stride).any() for place in inputs for offset in every)


def test_down_and_up_again() -> None:
    """The outputs of a transposed convolution are those of the layer that it undoes."""
    inputs = np.array([[0, 0], [1, 1], [4, 5]])
    down = kernel_map(inputs, size=2, stride=2, kind="strided")
    assert down.outputs.tolist() == [[0, 0], [2, 2]]
    up = kernel_map(down.outputs, size=2, stride=2, kind="transposed", outputs=inputs)
    assert np.array_equal(up.outputs, inputs)
    assert np.array_equal(up.matrix.to_dense(), down.matrix.to_dense().transpose(0, 2, 1))


def test_the_program_is_a_convolution() -> None:
    """On all voxels of a small grid it is a dense one with zeros around."""
    places = np.indices((3, 4)).reshape(2, -1).T
    rng = np.random.default_rng(0)
    features, weights = rng.integers(-3, 4, (12, 2)), rng.integers(-3, 4, (9, 2, 3))
    tensors = {"A": kernel_map(places).matrix, "X": features, "W": weights}
    held = {n: t if isinstance(t, Tensor) else Tensor.from_dense(t, "dense") for n, t in tensors.items()}
    workload = Workload("grid", load_kernel("sparse_convolution").unbound, held)
    compiled = compile_workload(workload)
    result = run(compiled, held)
    assert check(workload, compiled, result.outputs).good
    padded = np.pad(features.reshape(3, 4, 2), ((1, 1), (1, 1), (0, 0)))
    wanted = sum(padded[1 + a : 4 + a, 1 + b : 5 + b] @ weights[d] for d, (a, b) in enumerate(offsets(3, 2)))
    assert np.array_equal(result.outputs["Y"].to_dense(), wanted.reshape(12, 3))


def test_errors() -> None:
    with pytest.raises(InputError, match="position twice"):
        kernel_map(np.array([[0, 1], [0, 1]]))
    with pytest.raises(InputError, match="has stride 1, and not 2"):
        kernel_map(np.array([[0, 1]]), stride=2)
    with pytest.raises(InputError, match="no 'dense' convolution"):
        kernel_map(np.array([[0, 1]]), kind="dense")
    with pytest.raises(InputError, match="give whole numbers"):
        kernel_map(np.array([0.5]))
    with pytest.raises(InputError, match="have 2 dimensions and outputs 1"):
        kernel_map(np.array([[0, 1]]), outputs=np.array([[0]]))
    with pytest.raises(InputError, match="size 0"):
        kernel_map(np.array([[0, 1]]), size=0)
    with pytest.raises(InputError, match="no voxels"):
        kernel_map(np.zeros((0, 3), int))
