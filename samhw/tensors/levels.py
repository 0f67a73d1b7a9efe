"""The records that hold one stored level of a tensor: plain data, named as in TACO."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from samhw.tensors.format import LevelType

__all__ = ["CompressedLevel", "DenseLevel", "IntArray", "Level", "SingletonLevel"]

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


Level: TypeAlias = DenseLevel | CompressedLevel | SingletonLevel
