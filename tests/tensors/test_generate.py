import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from samhw.errors import InputError
from samhw.tensors import block_diagonal_graph, karate, power_law_graph, random_tensor, uniform_graph

GRAPHS = [uniform_graph, power_law_graph, block_diagonal_graph]


@pytest.mark.parametrize("shape", [(), (7,), (6, 5), (3, 4, 5), (1, 1, 2, 9)])
@pytest.mark.parametrize("format", ["dense", "csf"])
def test_random_tensor_has_the_nonzeros_that_were_asked_for(shape, format):
    places = int(np.prod(shape))
    format = format if shape else "scalar"
    for density in (0, 0.5, 1):
        tensor = random_tensor(shape, format, density=density, seed=1)
        tensor.check()
        assert np.count_nonzero(tensor.to_dense()) == round(density * places)
        assert tensor.shape == shape
    assert np.count_nonzero(random_tensor(shape, format, nnz=places, seed=1).vals) == places


def test_random_places_are_spread_over_every_mode():
    counts = random_tensor((4, 5, 6), "csf", density=0.5, seed=3, low=1, high=1).to_dense()
    for mode in range(3):
        others = tuple(other for other in range(3) if other != mode)
        assert (counts.sum(axis=others) > 0).all()


def test_integer_values_cover_the_range_without_zero():
    vals = random_tensor((2000,), "csf", density=1, seed=0, low=-2, high=3).vals
    values, counts = np.unique(vals, return_counts=True)
    assert values.tolist() == [-2, -1, 1, 2, 3]
    assert counts.min() > 300
    assert np.unique(random_tensor((99,), "csf", density=1, seed=0, low=0, high=2).vals).tolist() == [1, 2]
    assert np.unique(random_tensor((99,), "csf", density=1, seed=0, low=5, high=6).vals).tolist() == [5, 6]


def test_real_values_lie_in_the_range():
    tensor = random_tensor((2000,), "csf", density=1, seed=0, low=-0.5, high=2, dtype=np.float32)
    assert tensor.dtype == np.float32
    assert -0.5 <= tensor.vals.min() < -0.4
    assert 1.9 < tensor.vals.max() <= 2


def test_real_values_that_round_to_zero_are_moved():
    assert random_tensor((99,), "csf", nnz=99, seed=0, low=0, high=1e-7, dtype=np.float16).vals.all()


def test_large_shapes_cost_only_their_nonzeros():
    tensor = random_tensor((2**20, 2**20, 2**20), "csf", nnz=1000, seed=0)
    assert tensor.nnz == 1000
    assert tensor.to_coo()[0].max(axis=1).min() > 2**19


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(
    ("n", "density"), [(1, 1), (1, 0), (10, 0.05), (37, 0.3), (50, 1), (50, 0.5), (0, 0.5)]
)
def test_graphs_have_the_density_that_was_asked_for(graph, n, density):
    tensor = graph(n, density, seed=5)
    tensor.check()
    assert tensor.shape == (n, n)
    assert tensor.nnz == round(density * n * n)
    assert tensor.dtype == np.int64
    assert (tensor.vals == 1).all()
    assert str(graph(n, density, seed=5, format="dcsc").format) == "dcsc"


@pytest.mark.parametrize(
    "make", [*GRAPHS, lambda n, density, seed: random_tensor((n, n), "csr", density=density, seed=seed)]
)
def test_the_seed_decides(make):
    first, again, other = (make(30, 0.23, seed=seed).to_dense() for seed in (1, 1, 2))
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("axis", [0, 1])
def test_a_tenth_of_the_nodes_of_a_power_law_graph_has_many_of_its_edges(axis):
    def top_share(tensor, axis):
        degrees = np.sort(tensor.to_dense().sum(axis=axis))
        return degrees[-40:].sum() / degrees.sum()

    uniform, power_law = (graph(400, 0.05, seed=0) for graph in (uniform_graph, power_law_graph))
    assert 0.1 < top_share(uniform, axis) < 0.2
    assert 0.25 < top_share(power_law, axis) < 0.35
    assert 0.1 < top_share(power_law_graph(400, 0.05, seed=0, skew=0), axis) < 0.2


def test_edges_are_drawn_alike_one_by_one_and_from_all_places(monkeypatch):
    def shares(seeds):
        graphs = [power_law_graph(40, 0.1, seed=seed, skew=1) for seed in seeds]
        degrees = [np.sort(graph.to_dense().sum(axis=axis))[::-1] for graph in graphs for axis in (0, 1)]
        return np.mean(degrees, axis=0)

    whole = shares(range(60))
    monkeypatch.setattr("samhw.tensors.generate._SPARSE", 1)
    monkeypatch.setattr("samhw.tensors.generate._FEW_PLACES", 1)
    few = shares(range(60, 120))
    assert_allclose(few[:10], whole[:10], rtol=0.15)
    assert few.sum() == whole.sum() == 160


def test_a_symmetric_power_law_graph():
    tensor = power_law_graph(300, 0.02, seed=0, symmetric=True)
    dense = tensor.to_dense()
    assert tensor.nnz == 1800
    assert_array_equal(dense, dense.T)
    assert not dense.diagonal().any()
    with pytest.raises(InputError, match="too much for a symmetric"):
        power_law_graph(30, 0.6, seed=0, symmetric=True)
    with pytest.raises(InputError, match="has no 45 edges: use a lower skew"):
        power_law_graph(30, 0.1, seed=0, skew=60, symmetric=True)


def test_the_nodes_of_a_power_law_graph_are_in_random_order():
    degrees = [power_law_graph(50, 0.2, seed=seed, skew=2).to_dense().sum(axis=1) for seed in range(5)]
    assert len({int(degree.argmax()) for degree in degrees}) > 2


def test_blocks_lie_on_the_diagonal():
    dense = block_diagonal_graph(10, 0.2, seed=0, blocks=3).to_dense()
    allowed = np.zeros((10, 10), bool)
    for start, stop in ((0, 3), (3, 6), (6, 10)):
        allowed[start:stop, start:stop] = True
    assert not dense[~allowed].any()
    assert_array_equal(block_diagonal_graph(10, 0.34, seed=0, blocks=3).to_dense(), allowed)
    assert_array_equal(block_diagonal_graph(8, 0.25, seed=0).to_dense(), np.kron(np.eye(4), np.ones((2, 2))))


def test_karate():
    tensor = karate()
    assert (tensor.shape, str(tensor.format), tensor.nnz, tensor.dtype) == ((34, 34), "csr", 156, np.int64)
    assert_array_equal(tensor.to_dense(), nx.to_numpy_array(nx.karate_club_graph()) > 0)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: random_tensor((3,), "csf", seed=0), "exactly one"),
        (lambda: random_tensor((3,), "csf", seed=0, nnz=1, density=0.5), "exactly one"),
        (lambda: random_tensor((3,), "csf", seed=0, nnz=4), "nnz 4 is impossible for shape (3,): use 0 to 3"),
        (lambda: random_tensor((3,), "csf", seed=0, density=1.5), "density 1.5 is impossible"),
        (lambda: random_tensor((3,), "csf", seed=0, nnz=1, low=0, high=0), "no integer but 0"),
        (lambda: random_tensor((3,), "csf", seed=0, nnz=1, low=3, high=2), "no integer but 0"),
        (lambda: random_tensor((3,), "csf", seed=0, nnz=1, dtype=np.uint8), "do not fit uint8"),
        (lambda: random_tensor((3,), "csf", seed=0, nnz=1, low=1, high=1, dtype=float), "no value lies"),
        (lambda: random_tensor((2**40, 2**40), "dcsr", seed=0, nnz=1), "too large"),
        (lambda: uniform_graph(3, -0.1, seed=0), "density -0.1 is impossible"),
        (lambda: block_diagonal_graph(10, 0.5, seed=0, blocks=3), "does not fit in 3 blocks"),
        (lambda: block_diagonal_graph(10, 0.5, seed=0, blocks=11), "11 blocks are impossible"),
        (lambda: block_diagonal_graph(10, 0.5, seed=0, blocks=0), "0 blocks are impossible"),
    ],
)
def test_impossible_requests_are_one_sentence(call, complaint):
    with pytest.raises(InputError) as caught:
        call()
    assert complaint in str(caught.value)
