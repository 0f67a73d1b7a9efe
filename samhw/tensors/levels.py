"""The records that hold one stored level of a tensor: plain data, named as in TACO."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from samhw.tensors.format import Ell, LevelKind, LevelType

__all__ = [
    "CompressedLevel",
    "DenseLevel",
    "DiaLevel",
    "EllLevel",
    "IntArray",
    "Level",
    "RaggedLevel",
    "SingletonLevel",
]

IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DenseLevel:
    """Every coordinate: position ``p`` above has the positions ``p * size`` to ``p * size + size - 1``."""

    type: ClassVar[LevelType] = LevelType.dense
    size: int


@dataclass(frozen=True, eq=False)
class CompressedLevel:
    """The present coordinates: those of fiber ``f`` are ``crd[pos[f]:pos[f + 1]]``, in increasing order.

    ``pos`` has one entry more than the level above has positions; ``crd`` has one entry per position.
    """

    type: ClassVar[LevelType] = LevelType.compressed
    size: int
    pos: IntArray
    crd: IntArray


@dataclass(frozen=True, eq=False)
class SingletonLevel:
    """One coordinate, ``crd[p]``, for each position ``p`` of the level above."""

    type: ClassVar[LevelType] = LevelType.singleton
    size: int
    crd: IntArray


@dataclass(frozen=True, eq=False)
class EllLevel:
    """Room for ``width`` coordinates in each fiber: those of fiber ``f`` are the first ``cnt[f]`` entries of
    ``crd`` from ``f * width`` on, in increasing order.

    ``cnt`` has one entry per position of the level above; ``crd`` has ``width`` of them, padding included.
    """

    size: int
    width: int
    cnt: IntArray
    crd: IntArray

    @property
    def type(self) -> LevelKind:
        """With its width."""
        return Ell(self.width)


@dataclass(frozen=True, eq=False)
class RaggedLevel:
    """The coordinates from 0 to a length: position ``p`` above has the positions from ``pos[p]`` to
    ``pos[p + 1] - 1``."""

    type: ClassVar[LevelType] = LevelType.ragged
    size: int
    pos: IntArray


@dataclass(frozen=True, eq=False)
class DiaLevel:
    """Diagonals: coordinate ``r + off[d]`` below row ``r`` of ``rows`` is at position ``d * rows + r``. What
    lies outside of the matrix is padding. ``off`` increases."""

    type: ClassVar[LevelType] = LevelType.dia
    size: int
    rows: int
    off: IntArray

    @property
    def cnt(self) -> IntArray:
        """The number of diagonals, in an array of one entry."""
        return np.array([len(self.off)], np.int64)


Level: TypeAlias = DenseLevel | CompressedLevel | SingletonLevel | EllLevel | RaggedLevel | DiaLevel
