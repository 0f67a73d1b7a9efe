"""Kernel maps of sparse convolutions: which input each offset of a kernel brings to which output."""

from math import prod
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from samhw.errors import InputError
from samhw.tensors.tensor import Tensor
from samhw.words import did_you_mean

__all__ = ["KernelMap", "SparseConvolution", "kernel_map"]

SparseConvolution = Literal["submanifold", "strided", "transposed"]
_Positions = NDArray[np.int64]


class KernelMap(NamedTuple):
    """What a sparse convolution goes by.

    Attributes:
        matrix: of shape (offsets, outputs, inputs), 1 where an offset brings an input to an output: at most
            once in each row and each column of an offset.
        outputs: the positions of the outputs, of shape (outputs, dimensions).
    """

    matrix: Tensor
    outputs: _Positions


def kernel_map(
    inputs: NDArray[np.integer],
    *,
    size: int = 3,
    stride: int = 1,
    kind: SparseConvolution = "submanifold",
    outputs: NDArray[np.integer] | None = None,
) -> KernelMap:
    """The kernel map of a convolution of voxels.

    Offsets go from -(size // 2) on where the size is odd, and from 0 where it is even, in row-major order. An
    input at q reaches the output at p by the offset d where q = stride * p + d; in a transposed convolution
    where p = stride * q + d. (Choy et al., 4D Spatio-Temporal ConvNets, 2019; Graham et al., 3D Semantic
    Segmentation with Submanifold Sparse Convolutional Networks, 2018.)

    Args:
        inputs: the positions of the voxels, each once, of shape (voxels, dimensions).
        kind: `submanifold` has outputs where inputs are; `strided` and `transposed` have them wherever an
            input reaches, in row-major order.
        outputs: positions instead of these, each once: those of an earlier layer, for a transposed one.

    Raises:
        InputError: for positions that are not such an array, come twice, are none, too far apart or reach
            nothing; and for a size, a stride or a kind that there is not.
    """
    if kind not in get_args(SparseConvolution):
        raise InputError(
            f"there is no {kind!r} convolution{did_you_mean(kind, get_args(SparseConvolution))}: use "
            f"{', '.join(get_args(SparseConvolution))}"
        )
    if size < 1 or stride < 1:
        raise InputError(f"a kernel of size {size} with stride {stride} is impossible: use 1 or more")
    if kind == "submanifold" and stride != 1:
        raise InputError(f"a submanifold convolution has stride 1, and not {stride}: use kind='strided'")
    voxels = _checked("inputs", inputs)
    axis = np.arange(size) - (size // 2 if size % 2 else 0)
    offsets = np.stack(np.meshgrid(*[axis] * voxels.shape[1], indexing="ij"), -1).reshape(-1, voxels.shape[1])
    reached = _reached(voxels, offsets, stride, kind)
    if outputs is not None:
        places = _checked("outputs", outputs)
        if places.shape[1] != voxels.shape[1]:
            raise InputError(f"inputs have {voxels.shape[1]} dimensions and outputs {places.shape[1]}")
    elif kind == "submanifold":
        places = voxels
    else:
        places = np.unique(np.concatenate([to for _, to in reached]), axis=0)
        if not len(places):
            raise InputError(
                f"no offset of a kernel of size {size} brings any input to a multiple of {stride}"
            )
    coords = []
    for offset, (source, to) in enumerate(reached):
        place = _find(places, to)
        is_there = place >= 0
        numbers = np.full(int(is_there.sum()), offset)
        coords.append(np.stack([numbers, place[is_there], source[is_there]]))
    found = np.concatenate(coords, axis=1)
    shape = (len(offsets), len(places), len(voxels))
    return KernelMap(Tensor.from_coo(found, np.ones(found.shape[1]), shape, "csf"), places)


def _reached(
    voxels: _Positions, offsets: _Positions, stride: int, kind: SparseConvolution
) -> list[tuple[_Positions, _Positions]]:
    """For each offset the inputs that it brings somewhere, by their numbers, and where to."""
    found = []
    for offset in offsets:
        if kind == "transposed":
            found.append((np.arange(len(voxels)), stride * voxels + offset))
            continue
        moved = voxels - offset
        is_whole = (moved % stride == 0).all(axis=1)
        found.append((np.flatnonzero(is_whole), moved[is_whole] // stride))
    return found


def _find(places: _Positions, wanted: _Positions) -> _Positions:
    """The number of each position among the places; -1 for one that is not among them."""
    low, high = places.min(axis=0), places.max(axis=0)
    is_inside = ((wanted >= low) & (wanted <= high)).all(axis=1)
    box = tuple(high - low + 1)
    keys = np.ravel_multi_index(tuple((places - low).T), box)
    order = np.argsort(keys)
    asked = np.ravel_multi_index(tuple((wanted[is_inside] - low).T), box)
    at = order[np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)]
    found = np.full(len(wanted), -1)
    found[is_inside] = np.where(keys[at] == asked, at, -1)
    return found


def _checked(name: str, positions: NDArray[np.integer]) -> _Positions:
    found = np.asarray(positions)
    if found.ndim != 2 or found.dtype.kind not in "iu":
        raise InputError(
            f"{name} is an array of {found.dtype} and shape {found.shape}: give whole numbers of shape "
            "(voxels, dimensions)"
        )
    if not len(found) or prod(map(int, np.ptp(found, axis=0) + 1)) >= 1 << 62:
        raise InputError(f"{name} has no voxels, or they are too far apart: give some within a box of 2^62")
    if len(np.unique(found, axis=0)) < len(found):
        raise InputError(f"{name} has a position twice: give each voxel once")
    return found.astype(np.int64)
