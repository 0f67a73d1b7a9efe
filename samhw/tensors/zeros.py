"""Where the zeros of a dense tensor are: how many, and whether what is left lies in a pattern."""

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from samhw.tensors.tensor import Tensor

__all__ = ["Zeros", "zeros_of"]

BLOCKS = ((16, 16), (8, 8), (16, 1), (1, 16), (4, 4), (8, 1), (1, 8), (4, 1), (1, 4), (2, 2), (2, 1), (1, 2))
"""The blocks that are looked for, the largest first."""

FILLED = 0.9
"""The share of all blocks with a nonzero that nonzeros fill where these lie in blocks."""


@dataclass(frozen=True)
class Zeros:
    """The zeros of a tensor.

    Attributes:
        share: of all its places.
        block: the sizes, by mode, of the largest aligned blocks that nonzeros fill, if they do.
        halved: the mode along which two of each four places are zeros, if there is one.
    """

    share: float
    block: tuple[int, int] | None = None
    halved: int | None = None

    @property
    def pattern(self) -> str:
        """Where the nonzeros are, in words; empty without a pattern."""
        if self.block is not None:
            return f"blocks of {self.block[0]}x{self.block[1]}"
        return "" if self.halved is None else "a 2:4 pattern"


def zeros_of(tensor: Tensor, least: float = 0.0) -> Zeros:
    """The zeros of a tensor whose levels are all dense; of matrices with at least this share of them also the
    pattern."""
    places = prod(tensor.shape)
    share = 1 - np.count_nonzero(tensor.vals) / max(1, places)
    if tensor.rank != 2 or share < least or share in (0, 1):
        return Zeros(share)
    coords, _ = tensor.to_coo(drop_zeros=True)
    return Zeros(share, _block(coords), _halved(coords, tensor.shape))


def _block(coords: npt.NDArray[np.int64]) -> tuple[int, int] | None:
    entries = coords.shape[1]
    for block in BLOCKS:
        places = coords // np.array(block)[:, None]
        blocks = np.unique(places[0] * (places[1].max() + 1) + places[1]).size
        if entries >= FILLED * blocks * prod(block):
            return block
    return None


def _halved(coords: npt.NDArray[np.int64], shape: tuple[int, ...]) -> int | None:
    """A mode along which each four places have two nonzeros at the most, and nearly all of them two."""
    for mode in (1, 0):
        fours, rest = divmod(shape[mode], 4)
        if rest or 2 * coords.shape[1] < FILLED * prod(shape):
            continue
        counts = np.bincount(coords[1 - mode] * fours + coords[mode] // 4)
        if counts.max() <= 2:
            return mode
    return None
