"""Stand-ins for data sets that this machine may not have: random data of the same sizes.

docs/data.md has the sizes with their sources, and what of them is not known here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from samhw.errors import InputError
from samhw.tensors.generate import (
    bigbird_mask,
    longformer_mask,
    pixelfly_mask,
    power_law_graph,
    random_tensor,
)
from samhw.tensors.tensor import Tensor

__all__ = ["STAND_INS", "stand_in"]

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
class _Text:
    length: int
    block: int


@dataclass(frozen=True)
class _Attention:
    make: Callable[[], Tensor]


@dataclass(frozen=True)
class _Image:
    side: int


_SETS: dict[str, _Graph | _Text | _Attention | _Image] = {
    "cora": _Graph(2_708, 10_556, 1_433, _WORDS),
    "cora_ml": _Graph(2_995, 16_316, 2_879, _WORDS),
    "dblp": _Graph(17_716, 105_734, 1_639, _WORDS),
    "pubmed": _Graph(19_717, 88_648, 500, 0.1002),
    "ogbn-arxiv": _Graph(169_343, 1_166_243, 128, symmetric=False),
    "collab": _Graph(235_868, 2_358_104, 128),
    "mag": _Graph(736_389, 5_416_271, 128, symmetric=False),
    "imdb": _Text(1_024, 64),
    "longformer": _Attention(partial(longformer_mask, 4_096, 16, window=16)),
    "pixelfly": _Attention(partial(pixelfly_mask, 4_096, 16)),
    "imagenet": _Image(224),
    "nih": _Image(1_024),
    "luna16": _Image(512),
}

STAND_INS = tuple(_SETS)
"""The names of the sets."""


def stand_in(name: str, *, seed: int = 0) -> dict[str, Tensor]:
    """Random data in the place of a data set: its ``adjacency`` and ``features``, a ``mask`` or an ``input``.

    Graphs are scale-free, with 0 and 1 as values. Features are words, 0 or 1, where the set has words, and
    normal numbers elsewhere, as are images. Masks are BigBird's, and those
    of SparseTIR's attention, which have nothing random.

    Raises
    ------
    InputError
        When there is no set of this name.
    """
    match _SETS.get(name):
        case _Graph(nodes, edges, features, density, symmetric):
            graph = power_law_graph(nodes, edges / nodes**2, seed=seed, skew=_SKEW, symmetric=symmetric)
            if density < 1:
                words = random_tensor((nodes, features), "csr", seed=seed + 1, density=density, low=1, high=1)
                return {"adjacency": graph, "features": words}
            return {"adjacency": graph, "features": _normal((nodes, features), seed + 1)}
        case _Text(length, block):
            return {"mask": bigbird_mask(length, block, seed=seed, random_blocks=3)}
        case _Attention(make):
            return {"mask": make()}
        case _Image(side):
            return {"input": _normal((side, side), seed)}
    raise InputError(f"there is no stand-in for a data set {name!r}: use {', '.join(STAND_INS)}")


def _normal(shape: tuple[int, int], seed: int) -> Tensor:
    return Tensor.from_dense(np.random.default_rng(seed).normal(size=shape), "dense")
