"""Tensors to try things on: random ones, random graphs by pattern, the masks and weights of sparse networks,
and one real graph that needs no file.

Everything random is drawn from ``np.random.default_rng(seed)``: equal arguments give equal tensors.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.errors import InputError
from samhw.limits import WORD, check_memory
from samhw.tensors.formats import Format
from samhw.tensors.formats.arrays import IntArray, check_positions
from samhw.tensors.tensor import Tensor
from samhw.tensors.weighted_pairs import pairs_of_all, pairs_one_by_one

__all__ = [
    "bigbird_mask",
    "block_diagonal_graph",
    "karate",
    "power_law_graph",
    "pruned_weights",
    "random_tensor",
    "uniform_graph",
]


def random_tensor(
    shape: Sequence[int],
    format: Format | str,
    *,
    seed: int,
    density: float | None = None,
    nnz: int | None = None,
    low: float = -8,
    high: float = 8,
    dtype: npt.DTypeLike = np.int64,
) -> Tensor:
    """A tensor with nonzeros at uniformly random places.

    Parameters
    ----------
    density, nnz
        Either the fraction of the places that are nonzero, or their number.
    low, high
        The values are uniform from ``low`` to ``high``, both included for integers, but never 0.
    dtype
        The dtype of the values.

    Raises
    ------
    InputError
        When not exactly one of ``density`` and ``nnz`` is given, or either is impossible for the shape, or no
        value lies in the range.
    """
    places = math.prod(shape)
    if (density is None) == (nnz is None):
        raise InputError("random_tensor needs either density or nnz: give exactly one of them")
    if density is not None:
        nnz = _entries(density, places)
    elif nnz is None or not 0 <= nnz <= places:
        raise InputError(f"nnz {nnz} is impossible for shape {tuple(shape)}: use 0 to {places}")
    rng = np.random.default_rng(seed)
    format = Format.of(format, len(shape))
    if nnz == places and format.is_all_dense:
        check_positions(places, f"format {format}")
        vals = _nonzero_values(rng, nnz, low, high, np.dtype(dtype))
        return Tensor.from_dense(vals.reshape(tuple(shape)), format)
    flat = _choose(rng, places, nnz)
    coords = np.zeros((len(shape), nnz), np.int64)
    for mode in reversed(range(len(shape))):
        flat, coords[mode] = np.divmod(flat, shape[mode])
    return Tensor.from_coo(coords, _nonzero_values(rng, nnz, low, high, np.dtype(dtype)), shape, format)


def uniform_graph(n: int, density: float, *, seed: int, format: Format | str = "csr") -> Tensor:
    """The n x n adjacency, 0 or 1, of a directed graph whose edges are equally likely everywhere.

    Raises
    ------
    InputError
        When ``density`` is not in 0 to 1.
    """
    flat = _choose(np.random.default_rng(seed), n * n, _entries(density, n * n))
    return _adjacency(n, flat // n, flat % n, format)


def power_law_graph(
    n: int,
    density: float,
    *,
    seed: int,
    skew: float = 0.5,
    symmetric: bool = False,
    format: Format | str = "csr",
) -> Tensor:
    """The n x n adjacency, 0 or 1, of a scale-free graph: few nodes have most of the edges.

    The heaviest node has weight 1, the next ``2 ** -skew``, then ``3 ** -skew``, and so on; an edge is likely
    in proportion to the weights of both its ends. 0.5 gives degrees as in the model of Barabási and Albert,
    with exponent 3. Nodes are in random order. Time and memory grow with the nodes and the edges.

    Parameters
    ----------
    symmetric
        Whether each edge is there in both directions, and none from a node to itself.

    Raises
    ------
    InputError
        When ``density`` is not in 0 to 1, or more than half of a symmetric graph.
    """
    edges = _entries(density, n * n)
    rng = np.random.default_rng(seed)
    weights = rng.permutation(np.arange(1.0, n + 1) ** -skew)
    if symmetric:
        if density > 0.5:
            raise InputError(f"density {density} is too much for a symmetric power-law graph: use 0 to 0.5")
        pairs = pairs_one_by_one(rng, weights, edges // 2, lambda row, column: row < column)
        row, column = np.divmod(pairs, n)
        both = np.concatenate([pairs, column * n + row])
        both.sort()
        return _adjacency(n, *np.divmod(both, n), format)
    is_small = n * n <= max(_FEW_PLACES, _SPARSE * edges)
    pairs = pairs_of_all(rng, weights, edges) if is_small else pairs_one_by_one(rng, weights, edges, None)
    return _adjacency(n, *np.divmod(pairs, n), format)


_SPARSE, _FEW_PLACES = 8, 1 << 20
"""Where edges are in fewer than one of this many places, and places are more than that, drawing edges one by
one is cheaper than looking at all places."""


def block_diagonal_graph(
    n: int, density: float, *, seed: int, blocks: int | None = None, format: Format | str = "csr"
) -> Tensor:
    """The n x n adjacency, 0 or 1, of a directed graph of separate communities of equal size.

    Parameters
    ----------
    density
        The fraction of all n² places that is nonzero; all of those lie in the blocks.
    blocks
        The number of communities. By default as many as leave room for the edges, so that they are dense.

    Raises
    ------
    InputError
        When ``density`` is not in 0 to 1, or the edges do not fit in the blocks.
    """
    edges = _entries(density, n * n)
    if blocks is None:
        blocks = min(n, n * n // max(edges, 1))
    if not 0 <= blocks <= n or (blocks == 0) != (n == 0):
        raise InputError(f"{blocks} blocks are impossible for {n} nodes: use 1 to {n}")
    starts = np.arange(blocks + 1) * n // max(blocks, 1)
    sizes = np.diff(starts)
    areas = np.concatenate([[0], np.cumsum(sizes**2)])
    if edges > areas[-1]:
        raise InputError(f"density {density} does not fit in {blocks} blocks: use fewer blocks")
    places = _choose(np.random.default_rng(seed), int(areas[-1]), edges)
    block = np.searchsorted(areas, places, side="right") - 1
    row, column = np.divmod(places - areas[block], sizes[block])
    return _adjacency(n, starts[block] + row, starts[block] + column, format)


def bigbird_mask(
    n: int,
    block: int,
    *,
    seed: int,
    window: int = 3,
    global_blocks: int = 1,
    random_blocks: int = 1,
    format: Format | str = "csr",
) -> Tensor:
    """The n x n attention mask, 0 or 1, of BigBird (Zaheer et al., 2020): who looks at whom, in dense blocks.

    Parameters
    ----------
    block
        The side of a block; it divides ``n``.
    window
        How many blocks of each row of blocks lie around the diagonal; odd.
    global_blocks
        How many of the first rows and columns of blocks are full.
    random_blocks
        How many more blocks each other row of blocks has, at random, as far as it has room.

    Raises
    ------
    InputError
        When a size is impossible.
    """
    blocks = _blocks_of(n, block)
    if window < 1 or window % 2 == 0:
        raise InputError(f"a window of {window} blocks has no middle: use an odd number")
    if global_blocks < 0 or random_blocks < 0:
        raise InputError("a mask cannot have fewer than 0 global or random blocks: use 0 or more")
    rng = np.random.default_rng(seed)
    found = []
    for number in range(blocks):
        columns = np.arange(blocks)
        is_full = (abs(number - columns) <= window // 2) | (np.minimum(number, columns) < global_blocks)
        free = np.flatnonzero(~is_full)
        is_full[rng.choice(free, min(random_blocks, len(free)), replace=False)] = True
        found.append(np.flatnonzero(is_full))
    rows = np.repeat(np.arange(blocks), [len(columns) for columns in found])
    return _block_mask(n, block, rows, np.concatenate(found), format)


def longformer_mask(n: int, block: int, *, window: int, format: Format | str = "csr") -> Tensor:
    """The n x n attention mask, 0 or 1, of Longformer (Beltagy et al., 2020) as in SparseTIR's benchmark:
    each row of blocks looks at itself and at those that follow.

    Parameters
    ----------
    block
        The side of a block; it divides ``n``.
    window
        How many blocks each row of blocks has, from the diagonal on, as far as the sequence goes.

    Raises
    ------
    InputError
        When a size is impossible.
    """
    blocks = _blocks_of(n, block)
    if window < 1:
        raise InputError(f"a window of {window} blocks is empty: use 1 or more")
    row, column = np.divmod(np.arange(blocks * window), window)
    column = row + column
    is_inside = column < blocks
    return _block_mask(n, block, row[is_inside], column[is_inside], format)


def pixelfly_mask(n: int, block: int, *, format: Format | str = "csr") -> Tensor:
    """The n x n attention mask, 0 or 1, of Pixelated Butterfly (Dao et al., 2022): block row r has the blocks
    r and r XOR s, for each stride s = 1, 2, 4, ... of a butterfly network.

    Parameters
    ----------
    block
        The side of a block; ``n / block`` is a power of two.

    Raises
    ------
    InputError
        When a size is impossible.
    """
    blocks = _blocks_of(n, block)
    if blocks & (blocks - 1):
        raise InputError(f"{blocks} blocks are no power of two: use another length or another block")
    strides = np.array([0, *(1 << k for k in range(blocks.bit_length() - 1))])
    row = np.repeat(np.arange(blocks), len(strides))
    return _block_mask(n, block, row, row ^ np.tile(strides, blocks), format)


def _blocks_of(n: int, block: int) -> int:
    """How many blocks a sequence has; raises `InputError` for blocks that do not divide it."""
    if not 1 <= block <= n or n % block:
        raise InputError(f"blocks of {block} do not divide a sequence of {n}: use a divisor of {n}")
    return n // block


def _block_mask(n: int, block: int, rows: IntArray, columns: IntArray, format: Format | str) -> Tensor:
    """The mask with those blocks full; raises `InputError` if it is too large for this machine."""
    entries = block * block * len(rows)
    check_memory(5 * WORD * entries, f"a mask of {n:,} x {n:,}", "use a shorter sequence or smaller blocks")
    inside = np.divmod(np.arange(block * block), block)
    row, column = (
        (first[:, None] * block + offset).reshape(-1)
        for first, offset in zip((rows, columns), inside, strict=True)
    )
    return _adjacency(n, row, column, format)


def pruned_weights(
    shape: Sequence[int],
    density: float,
    *,
    seed: int,
    scale: float = 1.0,
    format: Format | str = "csr",
) -> Tensor:
    """Normal weights of standard deviation ``scale``, of which those of the greatest magnitudes stay.

    Raises
    ------
    InputError
        When ``density``, the fraction that stays, is not in 0 to 1.
    """
    rng = np.random.default_rng(seed)
    places = math.prod(shape)
    if density < _FEW:
        from scipy.special import ndtri  # Takes a tenth of a second to be imported, and is rarely needed.

        count = _entries(density, places)
        flat = _choose(rng, places, count)
        # The greatest of normal weights are those of the distribution's tails.
        magnitudes = -scale * ndtri(rng.random(count) * density / 2)
        signs = rng.choice((-1.0, 1.0), count)
        coords = np.array(np.unravel_index(flat, tuple(shape)), np.int64).reshape(len(shape), count)
        return Tensor.from_coo(coords, signs * magnitudes, shape, format)
    check_positions(places, "an array of weights")
    weights = rng.normal(0, scale, tuple(shape))
    pruned = weights.size - _entries(density, weights.size)
    weights.flat[np.argsort(np.abs(weights), axis=None)[:pruned]] = 0
    return Tensor.from_dense(weights, format)


_FEW = 0.1
"""Below this density weights are drawn one by one, since an array of all of them would be mostly zeros."""


_FRIENDSHIPS = {
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31),
    1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32),
    3: (7, 12, 13),
    4: (6, 10),
    5: (6, 10, 16),
    6: (16,),
    8: (30, 32, 33),
    9: (33,),
    13: (33,),
    14: (32, 33),
    15: (32, 33),
    18: (32, 33),
    19: (33,),
    20: (32, 33),
    22: (32, 33),
    23: (25, 27, 29, 32, 33),
    24: (25, 27, 31),
    25: (31,),
    26: (29, 33),
    27: (33,),
    28: (31, 33),
    29: (32, 33),
    30: (32, 33),
    31: (32, 33),
    32: (33,),
}
"""Of each member of the club those of a higher number."""


def karate() -> Tensor:
    """Zachary's karate club (An information flow model for conflict and fission in small groups, 1977): the
    symmetric 34 x 34 adjacency, 0 or 1, of its 78 friendships, as CSR."""
    ends = np.array([(one, other) for one, others in _FRIENDSHIPS.items() for other in others], np.int64).T
    return _adjacency(34, np.concatenate([ends[0], ends[1]]), np.concatenate([ends[1], ends[0]]), "csr")


def _entries(density: float, places: int) -> int:
    if not 0 <= density <= 1:
        raise InputError(f"density {density} is impossible: use 0 to 1")
    return round(density * places)


def _choose(rng: "np.random.Generator", places: int, count: int) -> IntArray:
    """``count`` distinct integers below ``places``."""
    if places > np.iinfo(np.int64).max:
        raise InputError(f"a tensor with {places} places is too large to draw from: use a smaller shape")
    # NumPy shuffles all places unless it draws few of them; and entries have coordinates and a value.
    needed = 4 * count if count < places // 50 else places + 4 * count
    what = f"drawing {count:,} of the {places:,} places of a tensor"
    check_memory(WORD * needed, what, "use a smaller shape or density")
    return rng.choice(places, count, replace=False, shuffle=False) if count else np.zeros(0, np.int64)


def _nonzero_values(
    rng: "np.random.Generator", count: int, low: float, high: float, dtype: np.dtype[Any]
) -> npt.NDArray[Any]:
    if dtype.kind not in "iu":
        if not low < high:
            raise InputError(f"no value lies between {low} and {high}: make low smaller than high")
        reals = rng.uniform(low, high, count).astype(dtype)
        reals[reals == 0] = high or low
        return reals
    first, last = math.ceil(low), math.floor(high)
    has_zero = first <= 0 <= last
    if last - first < has_zero:
        raise InputError(f"no integer but 0 lies between {low} and {high}: widen the range")
    if first < np.iinfo(dtype).min or last > np.iinfo(dtype).max:
        raise InputError(f"values from {low} to {high} do not fit {dtype}: change low, high or dtype")
    vals = rng.integers(first, last - has_zero, count, endpoint=True)
    # Leave out 0 by moving what is not below it up by one.
    return (vals + (has_zero & (vals >= 0))).astype(dtype)


def _adjacency(n: int, rows: IntArray, columns: IntArray, format: Format | str) -> Tensor:
    return Tensor.from_coo(np.stack([rows, columns]), np.ones(len(rows), np.int64), (n, n), format)
