"""What every value type answers: its name, its width, its words and the bit-true result of each operation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samhw.errors import InputError
from samhw.graph.numerics.straight_line import Bits, ScalarOp, straight_line

__all__ = [
    "ARITY",
    "BLOCK",
    "OVERFLOW",
    "RECURRENCE_BLOCK",
    "Definition",
    "ScalarOp",
    "ValueType",
    "Words",
    "apply",
]

Words: TypeAlias = NDArray[np.int64]
"""Bit patterns, as non-negative integers of the type's width."""

Definition: TypeAlias = Callable[..., Bits]
"""From operand words to the result word, or to `OVERFLOW`; for one of each, or for arrays."""

OVERFLOW = -1
"""What an operation gives for a result that its type cannot hold. Types that saturate never give it."""

BLOCK = 8
"""Elements of a block of a reduction."""

RECURRENCE_BLOCK = 16
"""Elements of a block of a recurrence, which has a multiplication and an addition in its loop."""

ARITY = {"add": 2, "sub": 2, "mul": 2, "max": 2, "min": 2, "neg": 1}
"""What every type has: names of operations, and how many operands each takes."""


class ValueType(ABC):
    """A value type. A *word* is the bit pattern of a value, a non-negative integer below 2**width.

    Types are values: equal if their names are, hashable, and printed as their names. Text becomes a type by
    `value_type`, where it comes in.
    """

    name: str
    family: str
    """The types whose operations take as long: `integer`, `fixed`, `f8`, `f16`, `bf16` or `f32`."""
    width: int
    saturates: ClassVar[bool]
    operations: Mapping[str, int]
    """The arity of every operation that the type has, by name."""
    sums_in_blocks: ClassVar[bool] = False
    """Sums are taken in blocks; products are in every type (`block`)."""
    unit_roundoff: float = 0.0
    """The greatest relative error of one correctly rounded operation: 0 where sums are exact."""
    zero_mask: int
    """A word is a zero if it has none of these bits."""

    @abstractmethod
    def encode(self, values: ArrayLike) -> Words:
        """Words of the nearest values; raises `InputError` for what has none (NaN, out of range)."""

    def constant(self, number: int | float) -> int:
        """The word of a number in a program's text; raises `InputError` if it has none."""
        return int(self.encode([number])[0])

    @property
    @abstractmethod
    def least(self) -> int | float:
        """The number below all others that it has; an infinity where it has one."""

    @property
    @abstractmethod
    def greatest(self) -> int | float:
        """The number above all others."""

    @abstractmethod
    def decode(self, words: ArrayLike) -> NDArray[Any]:
        """The values of words: an integer or a float64 array, exact."""

    @abstractmethod
    def definition(self, op: str) -> Definition:
        """The definition of an operation; raises `InputError` if the type has none of that name."""

    def apply(self, op: str, *operands: Words) -> Words:
        """An operation on arrays of words. Words in, words (or `OVERFLOW`) out."""
        return apply(self.definition(op), *operands)

    def scalar(self, op: str) -> ScalarOp:
        """The same operation on single words, for the models' inner loops."""
        return _scalar(self, op)

    def block(self, reduction: str) -> int:
        """Elements that a reduction takes pairwise before it goes on in sequence (`reduce_words`)."""
        return BLOCK if reduction == "prod" or (reduction == "sum" and self.sums_in_blocks) else 1

    def is_zero(self, words: ArrayLike) -> NDArray[np.bool_]:
        """Which words are zeros. Subnormals are in a type that has none; NaN is not."""
        is_zero: NDArray[np.bool_] = np.asarray(words) & self.zero_mask == 0
        return is_zero

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"value_type({self.name!r})"

    def _check_op(self, op: str) -> None:
        if op not in self.operations:
            raise InputError(f"{self.name} has no operation {op!r}; it has {', '.join(self.operations)}.")


def apply(definition: Definition, *operands: ArrayLike) -> Words:
    """A definition on arrays of words, broadcast against each other; gives an array of their shape."""
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype=np.int64) for x in operands))
    result: Words = definition(*(np.atleast_1d(x) for x in arrays))
    return result.reshape(arrays[0].shape)


@cache
def _scalar(kind: ValueType, op: str) -> ScalarOp:
    return straight_line(kind.definition(op), kind.operations[op])
