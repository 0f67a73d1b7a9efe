"""What functions need that are to be machine code and Python has no words for: memory and code by address.

Each is an ordinary function as well, so what is written with them also runs as the Python that it is.
"""

import ctypes
from collections.abc import Callable, MutableSequence
from functools import cache
from typing import Any, TypeVar

import numpy as np

__all__ = ["UNKNOWN", "apart", "call", "local_words", "real_of", "word_of", "words_at"]

UNKNOWN = 1 << 60
"""Words of memory whose size nobody checks."""

_SHOWN = 1 << 20
"""As many of them Python sees."""

_Code = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)

_Apart = TypeVar("_Apart", bound=Callable[..., int | None])


def apart(function: _Apart) -> _Apart:
    """Has a function of words called where it would otherwise be written out: a loop over many words.

    LLVM takes more time for such a function, and makes vector instructions of its loop.
    """
    function.__dict__["apart"] = True
    return function


@cache
def _row(count: int) -> Any:
    return ctypes.c_int64 * count


def words_at(address: int, count: int) -> MutableSequence[int]:
    """The words of memory from an address on."""
    words: MutableSequence[int] = _row(max(0, count) if count < UNKNOWN else _SHOWN).from_address(address)
    return words


def local_words(count: int) -> MutableSequence[int]:
    """A known number of words that live as long as the call.

    Where every index is known too, they are kept in registers.
    """
    return [0] * count


def call(code: int, first: int, second: int) -> int:
    """What the function at an address gives, which takes two words and gives one."""
    result: int = _Code(code)(first, second)
    return result


def real_of(word: int) -> float:
    """The number whose bits in single precision are the lowest 32 of a word."""
    return float(np.uint32(word & 0xFFFFFFFF).view(np.float32))


def word_of(number: float) -> int:
    """The bits of a number, rounded to single precision."""
    with np.errstate(over="ignore"):
        return int(np.float32(number).view(np.uint32))
