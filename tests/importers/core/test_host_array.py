"""Arrays on the host: dense and sparse ones have the same elements, whatever is done to them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from samhw.importers.core import HostArray
from samhw.tensors import Format


def both(*shape: int) -> tuple[HostArray, HostArray]:
    """Some numbers, a third of them zero, as a dense and as a sparse array."""
    rng = np.random.default_rng(sum(shape))
    dense = np.where(rng.random(shape) < 0.3, 0, rng.random(shape))
    coords = np.stack(np.nonzero(dense))
    return HostArray.dense(dense), HostArray(shape, dense[tuple(coords)], coords)


def elements(held: HostArray) -> npt.NDArray[Any]:
    """All elements in their shape."""
    if held.coords is None:
        assert held.values.shape == held.shape
        return held.values
    places = np.ravel_multi_index(tuple(held.coords), held.shape)
    assert (np.diff(places) > 0).all()
    found = np.zeros(held.shape)
    found[tuple(held.coords)] = held.values
    return found


@pytest.mark.parametrize("sizes", [(6, 4), (2, 3, 4), (24,), (3, 2, 2, 2)])
def test_another_shape(sizes: tuple[int, ...]) -> None:
    dense, sparse = both(6, 4)
    wanted = dense.values.reshape(sizes)
    assert (elements(dense.reshaped(sizes)) == wanted).all()
    assert (elements(sparse.reshaped(sizes)) == wanted).all()


@pytest.mark.parametrize(
    ("dim", "start", "length", "step"), [(0, 1, 3, 2), (1, 0, 4, 1), (1, 3, 1, 1), (0, 5, 1, 2)]
)
def test_a_slice(dim: int, start: int, length: int, step: int) -> None:
    dense, sparse = both(6, 4)
    wanted = np.take(dense.values, range(start, start + length * step, step), dim)
    assert (elements(dense.sliced(dim, start, length, step)) == wanted).all()
    assert (elements(sparse.sliced(dim, start, length, step)) == wanted).all()


def test_a_dimension_of_extent_1_goes() -> None:
    for held in both(3, 1, 2):
        assert held.without(1).shape == (3, 2)
        assert (elements(held.without(1)) == elements(held)[:, 0]).all()


def test_one_element_is_left_without_dimensions() -> None:
    for held in (HostArray.dense([[2.0]]), HostArray((1, 1), np.array([2.0]), np.array([[0], [0]]))):
        assert held.without(0).without(0).shape == ()
        assert held.without(0).without(0).stored((), (), ()).to_dense() == 2


def test_its_content_is_compared() -> None:
    dense, sparse = both(3, 4)
    assert dense.content == both(3, 4)[0].content != sparse.content
    assert HostArray.ones(2).content != HostArray.dense(np.ones(2)).content
    assert HostArray.ones(4).content != HostArray.dense(np.ones((2, 2), np.float32)).content


def test_density_counts_what_is_not_zero() -> None:
    dense, sparse = both(5, 7)
    assert dense.density == sparse.density == np.count_nonzero(dense.values) / 35
    assert HostArray((2, 2), np.array([0.0, 1.0]), np.array([[0, 1], [0, 1]])).density == 0.25


def test_it_is_stored_in_an_order_of_its_modes() -> None:
    for held in both(6, 4):
        found = held.stored((6, 4), (1, 0), Format.parse("csr", 2).levels)
        assert str(found.format) == "csr"
        assert (found.to_dense() == elements(held).T).all()


def test_numbers_have_the_type_of_weights() -> None:
    assert HostArray.number(0.5).values.dtype == np.float32
    assert HostArray.number(1e300).values == np.inf
