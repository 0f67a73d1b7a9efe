"""Stand-ins for data sets that this machine may not have: random data of the same sizes.

docs/data.md has the sizes with their sources, and what of them is not known here.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.tensors.generate import (
    bigbird_mask,
    block_diagonal_graph,
    longformer_mask,
    pixelfly_mask,
    power_law_graph,
    pruned_weights,
    random_tensor,
    uniform_graph,
)
from samhw.tensors.tensor import Tensor
from samhw.tensors.voxels import kernel_map
from samhw.words import did_you_mean

__all__ = ["STAND_INS", "small_sizes", "stand_in"]

_SKEW = 0.58
"""Of the weights of nodes: the degrees of Cora, whose greatest is 168."""

_WORDS = 0.0127
"""The share of a vocabulary that a document of Cora has."""


@dataclass(frozen=True)
class _Graph:
    nodes: int
    edges: int
    features: int
    density: float = 1.0
    """Of the features."""
    symmetric: bool = True


@dataclass(frozen=True)
class _Pattern:
    make: Callable[..., Tensor]
    nodes: int = 500
    density: float = 0.02


@dataclass(frozen=True)
class _Relations:
    nodes: int
    edges: int
    types: int


@dataclass(frozen=True)
class _Weights:
    outputs: int
    inputs: int
    density: float
    block: int


@dataclass(frozen=True)
class _Voxels:
    radius: int


@dataclass(frozen=True)
class _Text:
    length: int
    block: int


@dataclass(frozen=True)
class _Attention:
    make: Callable[[int, int], Tensor]
    length: int = 4_096
    block: int = 16


@dataclass(frozen=True)
class _Image:
    side: int


_Set = _Graph | _Pattern | _Relations | _Weights | _Voxels | _Text | _Attention | _Image

_SETS: dict[str, _Set] = {
    "cora": _Graph(2_708, 10_556, 1_433, _WORDS),
    "cora_ml": _Graph(2_995, 16_316, 2_879, _WORDS),
    "dblp": _Graph(17_716, 105_734, 1_639, _WORDS),
    "pubmed": _Graph(19_717, 88_648, 500, 0.1002),
    "ppi": _Graph(44_906, 1_271_274, 50),
    "ogbn-arxiv": _Graph(169_343, 1_166_243, 128, symmetric=False),
    "ogbn-proteins": _Graph(132_534, 39_561_252, 8),
    "reddit": _Graph(232_965, 114_615_892, 602),
    "collab": _Graph(235_868, 2_358_104, 128),
    "mag": _Graph(736_389, 5_416_271, 128, symmetric=False),
    "aifb": _Relations(7_262, 48_810, 45),
    "mutag": _Relations(27_163, 148_100, 46),
    "bgs": _Relations(94_806, 672_884, 96),
    "ogbl-biokg": _Relations(93_773, 4_762_678, 51),
    "am": _Relations(1_885_136, 5_668_682, 96),
    "bert-pruned": _Weights(768, 768, 0.06, 1),
    "bert-blocks": _Weights(768, 768, 0.07, 32),
    "shell": _Voxels(20),
    "imdb": _Text(1_024, 64),
    "longformer": _Attention(lambda length, block: longformer_mask(length, block, window=16)),
    "pixelfly": _Attention(pixelfly_mask),
    "imagenet": _Image(224),
    "nih": _Image(1_024),
    "luna16": _Image(512),
    "uniform": _Pattern(uniform_graph),
    "power-law": _Pattern(power_law_graph),
    "block-diagonal": _Pattern(block_diagonal_graph),
}

STAND_INS = tuple(_SETS)
"""The names of the sets."""

_SMALL: dict[type[_Set], str] = {
    _Graph: "nodes=9,edges=20,features=7",
    _Pattern: "nodes=9",
    _Relations: "nodes=9,edges=20,types=3",
    _Weights: "outputs=64,inputs=64",
    _Voxels: "radius=2",
    _Text: "length=128,block=16",
    _Attention: "length=128",
    _Image: "side=5",
}


def small_sizes(name: str) -> str:
    """The sizes of a small set of the same kind, equal for all sets of that kind: a program takes either or
    neither."""
    return _SMALL[type(_SETS[name])]


def stand_in(name: str, *, seed: int = 0, **sizes: str) -> dict[str, Tensor]:
    """Random data in the place of a data set: its ``adjacency`` and ``features``, ``weights``, a ``mask`` or
    an ``input``.

    Graphs are scale-free, with 0 and 1 as values. Features are words, 0 or 1, where the set has words, and
    normal numbers elsewhere, as are images. A graph with typed edges has an adjacency of rank 3, relation by
    relation, and so have voxels, whose first mode are the offsets of a kernel. Masks are BigBird's, and those
    of SparseTIR's attention, which have nothing random.

    Parameters
    ----------
    sizes
        Those that differ from the set's, as texts: ``nodes="200"``.

    Raises
    ------
    InputError
        When there is no set of this name, or it has no such size.
    """
    match _sized(name, sizes):
        case _Graph(nodes, edges, features, density, symmetric):
            graph = power_law_graph(nodes, edges / nodes**2, seed=seed, skew=_SKEW, symmetric=symmetric)
            if density < 1:
                words = random_tensor((nodes, features), "csr", seed=seed + 1, density=density, low=1, high=1)
                return {"adjacency": graph, "features": words}
            return {"adjacency": graph, "features": _normal((nodes, features), seed + 1)}
        case _Pattern(make_graph, nodes, density):
            return {"adjacency": make_graph(nodes, density, seed=seed)}
        case _Relations(nodes, edges, types):
            return {"adjacency": _typed_graph(nodes, edges, types, seed)}
        case _Weights(outputs, inputs, density, side):
            kept = pruned_weights((outputs // side, inputs // side), density, seed=seed)
            return {"weights": _in_blocks(kept, side, seed)}
        case _Voxels(radius):
            return {"adjacency": kernel_map(_shell(radius)).matrix}
        case _Text(length, block):
            return {"mask": bigbird_mask(length, block, seed=seed, random_blocks=3)}
        case _Attention(make, length, block):
            return {"mask": make(length, block)}
        case _Image(side):
            return {"input": _normal((side, side), seed)}


def _sized(name: str, sizes: dict[str, str]) -> _Set:
    """A set with other sizes."""
    if name not in _SETS:
        raise InputError(
            f"there is no stand-in for a data set {name!r}{did_you_mean(name, STAND_INS)}: use "
            f"{', '.join(STAND_INS)}"
        )
    found = _SETS[name]
    kinds = {one.name: type(getattr(found, one.name)) for one in fields(found)}
    kinds = {key: kind for key, kind in kinds.items() if kind in (int, float)}
    changed: dict[str, int | float] = {}
    for key, text in sizes.items():
        if key not in kinds:
            raise InputError(
                f"'{key}' is no size of {name}{did_you_mean(key, kinds)}: use seed, {', '.join(kinds)}"
            )
        try:
            changed[key] = kinds[key](text)
        except ValueError:
            changed[key] = 0
        if not 0 < changed[key] < 1 << 40:
            raise InputError(f"'{text}' is no {key} of {name}: use a number greater than zero")
    return replace(found, **changed)  # type: ignore[arg-type]


def _typed_graph(nodes: int, edges: int, types: int, seed: int) -> Tensor:
    """Scale-free graphs of the same nodes, one for each type of edge; the n-th most frequent one has edges in
    proportion to 1 / n."""
    shares = 1 / np.arange(1, types + 1)
    ends = np.round(edges * np.cumsum(shares) / shares.sum()).astype(int)
    coords = []
    for number, count in enumerate(np.diff(ends, prepend=0)):
        found, _ = power_law_graph(nodes, count / nodes**2, seed=seed + number, skew=_SKEW).to_coo()
        coords.append(np.concatenate([np.full((1, found.shape[1]), number), found]))
    every = np.concatenate(coords, axis=1)
    return Tensor.from_coo(every, np.ones(every.shape[1]), (types, nodes, nodes), "csf")


def _in_blocks(kept: Tensor, side: int, seed: int) -> Tensor:
    """Normal weights in all of a block for each entry."""
    if side == 1:
        return kept
    coords, _ = kept.to_coo()
    inner = np.indices((side, side)).reshape(2, 1, -1)
    every = (side * coords[:, :, None] + inner).reshape(2, -1)
    vals = np.random.default_rng(seed).normal(size=every.shape[1])
    return Tensor.from_coo(every, vals, [side * extent for extent in kept.shape], "csr")


def _shell(radius: int) -> npt.NDArray[np.int64]:
    """The voxels that the surface of a ball goes through: those of a scan are on surfaces."""
    places = np.indices((2 * radius + 1,) * 3).reshape(3, -1).T
    distance = np.sqrt(((places - radius) ** 2).sum(axis=1))
    found: npt.NDArray[np.int64] = places[np.abs(distance - radius) < 0.5]
    return found


def _normal(shape: tuple[int, int], seed: int) -> Tensor:
    return Tensor.from_dense(np.random.default_rng(seed).normal(size=shape), "dense")
