"""Random data in the place of data sets."""

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.tensors import STAND_INS, stand_in
from tests.support.thorough import THOROUGH


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features"),
    [
        ("cora", 2708, 10556, 1433),
        ("cora_ml", 2995, 16316, 2879),
        ("dblp", 17716, 105734, 1639),
        ("pubmed", 19717, 88648, 500),
        pytest.param("ogbn-arxiv", 169343, 1166243, 128, marks=pytest.mark.slow),
        pytest.param("collab", 235868, 2358104, 128, marks=pytest.mark.slow),
        pytest.param(
            *("mag", 736389, 5416271, 128),
            marks=[pytest.mark.slow, pytest.mark.skipif(not THOROUGH, reason="a quarter of a minute")],
        ),
        pytest.param(
            *("ogbn-proteins", 132534, 39561252, 8),
            marks=[pytest.mark.slow, pytest.mark.skipif(not THOROUGH, reason="gigabytes")],
        ),
        pytest.param(
            *("reddit", 232965, 114615892, 602),
            marks=[pytest.mark.slow, pytest.mark.skipif(not THOROUGH, reason="a minute, and ten gigabytes")],
        ),
    ],
)
def test_graphs(name: str, nodes: int, edges: int, features: int) -> None:
    found = stand_in(name)
    graph = found["adjacency"]
    assert (graph.shape, graph.nnz) == ((nodes, nodes), edges)
    assert set(np.unique(graph.vals)) == {1}
    assert found["features"].shape == (nodes, features)
    degrees = np.diff(graph.arrays()["pos1"])
    assert degrees.max() > 20 * degrees.mean()
    if name not in ("mag", "ogbn-arxiv"):
        assert np.array_equal(degrees, np.bincount(graph.arrays()["crd1"], minlength=nodes))


def test_the_degrees_are_like_those_of_cora() -> None:
    """Whose ten greatest are 168, 78, 74, 65, 44, 42, 40, 36, 34 and 33."""
    degrees = np.sort(np.diff(stand_in("cora")["adjacency"].arrays()["pos1"]))[::-1]
    assert 120 < degrees[0] < 220
    assert 30 < degrees[9] < 60


def test_masks_and_images() -> None:
    mask = stand_in("imdb")["mask"]
    assert mask.shape == (1024, 1024)
    assert 0.5 < 1 - mask.nnz / 1024**2 < 0.55
    assert [stand_in(name)["input"].shape[0] for name in ("imagenet", "nih", "luna16")] == [224, 1024, 512]


def test_masks_of_attention() -> None:
    """SparseTIR's: 3,976 and 2,304 of 65,536 blocks of 16."""
    assert stand_in("longformer")["mask"].nnz == 3976 * 16**2
    assert stand_in("pixelfly")["mask"].nnz == 2304 * 16**2


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "types"), [("aifb", 7262, 48810, 45), ("mutag", 27163, 148100, 46)]
)
def test_graphs_of_relations(name: str, nodes: int, edges: int, types: int) -> None:
    graph = stand_in(name)["adjacency"]
    assert (graph.shape, graph.nnz) == ((types, nodes, nodes), edges)
    sizes = np.bincount(graph.to_coo()[0][0])
    assert len(sizes) == types
    assert sizes[0] > 20 * sizes.min() > 0


def test_weights_and_voxels() -> None:
    assert stand_in("bert-pruned")["weights"].nnz == round(0.06 * 768**2)
    blocks = stand_in("bert-blocks")["weights"]
    assert (blocks.shape, blocks.nnz) == ((768, 768), 40 * 32**2)
    assert blocks.convert("bcsr(32)").nnz == 40 * 32**2
    shell = stand_in("shell")["adjacency"]
    assert shell.shape[0] == 27
    at_once = shell.to_coo()[0]
    assert np.count_nonzero(at_once[0] == 13) == shell.shape[1]


def test_names_and_seeds() -> None:
    assert len(STAND_INS) == 27
    with pytest.raises(InputError, match="no stand-in for a data set 'citeseer': use cora, cora_ml"):
        stand_in("citeseer")
    same, other = (stand_in("cora", seed=seed)["adjacency"].arrays()["crd1"] for seed in (0, 1))
    assert np.array_equal(same, stand_in("cora")["adjacency"].arrays()["crd1"])
    assert not np.array_equal(same, other)
