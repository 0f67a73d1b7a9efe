"""TokenCounts of supports: by hand, against NumPy on random tensors, and bounds that hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.cost.statistics import (
    DataStatistics,
    Dealt,
    DegreeStatistics,
    Support,
    TensorStatistics,
    all_of,
    any_of,
    entries,
    every,
    from_densities,
    from_tensors,
    onto,
    relabelled,
    shifted,
    thinned,
)
from samhw.tensors import Tensor

A = np.array([[1, 0, 2], [0, 0, 0], [3, 4, 0]])
X = np.array([[1, 1], [0, 0], [0, 5]])


def statistics(kind: str = "exact", **tensors: np.ndarray) -> TensorStatistics:
    given = tensors or {"A": A, "X": X}
    return from_tensors({name: Tensor.from_dense(array, "csr") for name, array in given.items()}, kind)


PRODUCT = all_of([entries("A", "ik"), entries("X", "kj")])


def test_stored_and_their_rows() -> None:
    known = statistics()
    assert known.count(entries("A", "ik")) == 4
    assert known.count(entries("A", "ik"), "i") == 2
    assert known.fiber(entries("A", "ik"), "i") == 2


def test_a_product_and_its_sum() -> None:
    known = statistics()
    # (0, 0, 0), (0, 0, 1), (0, 2, 1), (2, 0, 0), (2, 0, 1)
    assert known.count(PRODUCT) == 5
    assert known.count(PRODUCT, "ij") == 4
    assert known.count(PRODUCT, "j") == 2


@given(seed=st.integers(0, 1 << 16))
def test_rows_are_those_of_numpy(seed: int) -> None:
    """Of a product, and of what is alike in every row; of no single rows where all are alike."""
    rng = np.random.default_rng(seed)
    a, x = ((rng.random(shape) < 0.4) * 1 for shape in ((6, 5), (5, 4)))
    a[0, 0] = x[0, 0] = 1
    a[1, 0] = 0
    known = statistics(A=a, X=x)
    even = all_of([every("i", 6), every("l", 3)])
    found = known.by_row((PRODUCT, even), ("i",))
    assert found is not None
    np.testing.assert_array_equal(found[0], np.einsum("ik,kj->i", a, x))
    np.testing.assert_array_equal(found[1], np.full(6, 3))
    assert known.by_row((even, even), ("i",)) is None
    pairs = known.by_row((PRODUCT, PRODUCT), ("i", "k"))
    assert pairs is not None
    np.testing.assert_array_equal(pairs[0], (a * x.sum(1))[(a * x.sum(1)) > 0])


def test_rows_of_a_sample() -> None:
    """Runs of neighbours, where a join would look at too many pairs."""
    a = np.ones((2048, 16), np.int64) * (np.arange(2048) % 2)[:, None]
    a[0, 0] = 1
    tensors = {"A": Tensor.from_dense(a, "csr"), "X": Tensor.from_dense(np.eye(16), "csr")}
    known = DataStatistics(tensors, most=1 << 12)
    (rows, _) = known.by_row((PRODUCT, PRODUCT), ("i",)) or ([], [])
    assert sorted(set(rows)) == [1, 16]
    assert len(rows) < 300
    assert DegreeStatistics.of(tensors).by_row((PRODUCT,), ("i",)) is None


def test_a_sum_has_all_of_a_dense_term() -> None:
    rows = all_of([every("i", 3), every("j", 2)])
    assert any_of([onto(PRODUCT, "ij"), rows]) is rows


def test_a_sum_of_sparse_terms() -> None:
    known = statistics(A=A, B=np.eye(3))
    assert known.count(any_of([entries("A", "ij"), entries("B", "ij")])) == 6


def test_a_concatenation_has_its_parts_side_by_side() -> None:
    known = statistics(A=A)
    parts = [shifted(entries("A", "ik"), "k", "c", 0), shifted(entries("A", "ik"), "k", "c", 3)]
    assert known.count(any_of(parts)) == 8


def test_equal_supports_are_one() -> None:
    assert all_of([entries("X", "kj"), entries("A", "ik")]) is PRODUCT
    assert relabelled(entries("A", "ik"), {"i": "k", "k": "l"}) is entries("A", "kl")
    assert all_of([every("i", 3), entries("A", "ik")]) is entries("A", "ik")


def test_uniform_takes_coordinates_to_be_spread_evenly() -> None:
    known = from_densities({"A": (100, 50), "X": (50, 20)}, {"A": 0.1, "X": 0.5})
    assert known.count(entries("A", "ik")) == pytest.approx(500)
    assert known.count(PRODUCT) == pytest.approx(100 * 50 * 20 * 0.05)
    assert known.count(PRODUCT, "ij") == pytest.approx(2000 * (1 - 0.95**50))


def test_degrees_bound_a_product_by_a_chain() -> None:
    known = statistics("degrees")
    # From nothing to the three of X, then the two at most that A has in a column.
    assert known.count(PRODUCT) == 6
    # Two rows of A have something, and two columns of X.
    assert known.count(PRODUCT, "ij") == 4


def test_thinned_keeps_a_share() -> None:
    known = DataStatistics({"A": Tensor.from_dense(np.ones((100, 100)), "csr")})
    assert known.count(thinned(entries("A", "ij"), 0.5)) == pytest.approx(5000, rel=0.05)


@pytest.mark.parametrize("density", [0.01, 0.1])
def test_a_sample_comes_close(density: float) -> None:
    rng = np.random.default_rng(7)
    a = rng.random((300, 200)) < density * rng.random((300, 1)) * 2
    x = rng.random((200, 100)) < density * 2
    tensors = {"A": Tensor.from_dense(a * 1, "csr"), "X": Tensor.from_dense(x * 1, "csr")}
    few = DataStatistics(tensors, "sampled", most=8000)
    exact = DataStatistics(tensors)
    for indices in ("ikj", "ij"):
        assert few.count(PRODUCT, indices) == pytest.approx(exact.count(PRODUCT, indices), rel=0.1)


def test_what_stores_everything_is_not_sampled() -> None:
    """One coordinate of the second index of X has more pairs than a count may look at."""
    rng = np.random.default_rng(7)
    a = (rng.random((300, 200)) < 0.1) * 1
    tensors = {"A": Tensor.from_dense(a, "csr"), "X": Tensor.from_dense(np.ones((200, 90)), "csr")}
    known = DataStatistics(tensors, most=4000)
    assert known.count(PRODUCT, "ikj") == pytest.approx(90 * a.sum(), rel=0.1)


@st.composite
def supports(draw: st.DrawFn) -> tuple[Support, str, np.ndarray, dict[str, np.ndarray]]:
    """A support over i, k and j, the indices that are asked for, where it is by NumPy, and what is stored."""
    shape = {"i": draw(st.integers(1, 4)), "k": draw(st.integers(1, 4)), "j": draw(st.integers(1, 4))}
    seed = draw(st.integers(0, 1 << 16))
    rng = np.random.default_rng(seed)

    def factor(name: str, indices: str) -> tuple[Support, np.ndarray]:
        array = rng.random([shape[i] for i in indices]) < rng.choice([0.2, 0.5, 0.9])
        arrays[name] = array
        axes = tuple("ikj".index(i) for i in indices)
        whole = np.expand_dims(array.transpose(np.argsort(axes)), [n for n in range(3) if n not in axes])
        return entries(name, indices), np.broadcast_to(whole, list(shape.values()))

    arrays: dict[str, np.ndarray] = {}
    terms = []
    for n in range(draw(st.integers(1, 2))):
        factors = [factor(f"{name}{n}", indices) for name, indices in (("A", "ik"), ("X", "kj"), ("M", "ji"))]
        chosen = factors[: draw(st.integers(2, 3))]
        terms.append((all_of(f for f, _ in chosen), np.logical_and.reduce([w for _, w in chosen])))
    whole = any_of(term for term, _ in terms)
    found = np.logical_or.reduce([array for _, array in terms])
    return whole, draw(st.sampled_from(["ikj", "ij", "i", "kj"])), found, arrays


@settings(max_examples=200, deadline=None)
@given(supports())
def test_exact_is_what_there_is_and_no_bound_is_less(
    case: tuple[Support, str, np.ndarray, dict[str, np.ndarray]],
) -> None:
    support, asked, found, arrays = case
    count = found.any(axis=tuple(n for n, i in enumerate("ikj") if i not in asked)).sum()
    tensors = {name: Tensor.from_dense(array * 1, "csf") for name, array in arrays.items()}
    assert DataStatistics(tensors).count(support, asked) == count
    assert DegreeStatistics.of(tensors).count(support, asked) >= count


def test_parts_of_a_concatenation_are_not_the_whole() -> None:
    known = statistics(A=A)
    parts = [every("c", 2), shifted(entries("A", "ic"), "c", "c", 2)]
    whole = any_of([all_of([every("i", 3), parts[0]]), parts[1]])
    assert known.count(whole) == 3 * 2 + 4


def test_the_busiest_lane_by_hand() -> None:
    """Rows 0 and 2 of A have two entries each: dealt as all rows are, they meet in lane 0; as those that are
    stored, they do not."""
    known, stored = statistics(), entries("A", "ik")
    assert known.busiest(stored, [Dealt("i", every("i", 3), 2)]) == 4
    assert known.busiest(stored, [Dealt("i", onto(stored, "i"), 2)]) == 2
    assert known.busiest(stored, [Dealt("k", stored, 2)]) == 2
    assert known.busiest(stored, [Dealt("j", every("j", 3), 2)]) == 4
    # Three dense columns for each: two of them in one lane.
    wide = all_of([stored, every("j", 3)])
    assert known.busiest(wide, [Dealt("j", wide, 2)]) == 8
    assert statistics("uniform").busiest(stored, [Dealt("i", every("i", 3), 2)]) == 2
    # Ranges: one row of two in each, and no less than the longest row however many there are.
    ranges = [Dealt("i", every("i", 3), lanes, is_even=True) for lanes in (1, 2, 40)]
    assert [known.busiest(stored, [one]) for one in ranges] == [4, 2, 2]
    assert statistics("uniform").busiest(stored, ranges[1:2]) == 2


@given(st.integers(0, 1 << 30), st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_the_busiest_lane(seed: int, outer: int, inner: int) -> None:
    rng = np.random.default_rng(seed)
    array = rng.integers(0, 2, rng.integers(1, 12, 2))
    known = statistics(A=array, X=np.ones((array.shape[1], 2), int))
    stored = entries("A", "ik")
    rows = np.flatnonzero(array.any(axis=1))
    load = np.zeros((outer, inner), int)
    for turn, row in enumerate(rows):
        for place in range(np.count_nonzero(array[row])):
            load[turn % outer, place % inner] += 1
    dealt = [Dealt("i", onto(stored, "i"), outer), Dealt("k", stored, inner)]
    assert known.busiest(stored, dealt) == load.max()
    assert known.busiest(all_of([stored, entries("X", "kj")]), dealt) == 2 * load.max()
