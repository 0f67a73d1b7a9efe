"""What every value type answers: its name, its width, its words and the bit-true result of each operation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError

__all__ = ["ARITY", "OVERFLOW", "ScalarOp", "ValueType", "Words"]

Words = NDArray[np.int64]
"""Bit patterns, as non-negative integers of the type's width."""

ScalarOp = Callable[..., int]
"""From operand words to the result word, or to `OVERFLOW`."""

OVERFLOW = -1
"""What an operation gives for a result that its type cannot hold. Types that saturate never give it."""

ARITY = {"add": 2, "sub": 2, "mul": 2, "max": 2, "min": 2, "neg": 1}
"""What every type has: names of operations, and how many operands each takes."""


class ValueType(ABC):
    """A value type. A *word* is the bit pattern of a value, a non-negative integer below 2**width."""

    name: str
    width: int
    saturates: ClassVar[bool]
    operations: Mapping[str, int]
    """The arity of every operation that the type has, by name."""

    @abstractmethod
    def encode(self, values: ArrayLike) -> Words:
        """Words of the nearest values; raises `InputError` for what has none (NaN, out of range)."""

    @abstractmethod
    def decode(self, words: ArrayLike) -> NDArray[Any]:
        """The values of words: an integer or a float64 array, exact."""

    @abstractmethod
    def apply(self, op: str, *operands: Words) -> Words:
        """The definition of an operation, vectorised. Words in, words (or `OVERFLOW`) out."""

    @abstractmethod
    def scalar(self, op: str) -> ScalarOp:
        """The same operation on single words, for the models' inner loops."""

    def __str__(self) -> str:
        return self.name

    def _check_op(self, op: str) -> None:
        if op not in self.operations:
            raise InputError(f"{self.name} has no operation {op!r}; it has {', '.join(self.operations)}.")
