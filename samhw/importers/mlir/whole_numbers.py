"""Whole numbers as words: `i8` has 256 of them, which stand for -128 to 127 or for 0 to 255, as an operation
takes them; and what operations make of words, with NumPy.

A program has the number from -128 to 127 for each word, and 0 or 1 for a condition (`i1`).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.core import UnsupportedError

__all__ = [
    *("BITS", "DIVISIONS", "SHIFTS", "WHOLE", "as_signed", "as_unsigned", "as_word", "check_operands"),
    *("is_float", "is_integer", "is_unsigned", "least_and_greatest", "signed_word", "whole_operation"),
    *("width_of", "words_of_data"),
]

Words = npt.NDArray[np.int64]
Combine = Callable[[Any, Any], Any]


_INTEGER = re.compile(r"([us]?)i(\d{1,4})")
_INDEX_WIDTH = 64


def is_float(element: str) -> bool:
    """Whether an element type is one of floating point."""
    return re.fullmatch(r"bf16|tf32|f\d+\w*", element) is not None


def is_integer(element: str) -> bool:
    """Whether an element type is one of whole numbers, conditions too."""
    return width_of(element) is not None


def width_of(element: str) -> int | None:
    """The bits of a type of whole numbers; None for another one."""
    if element == "index":
        return _INDEX_WIDTH
    match = _INTEGER.fullmatch(element)
    return int(match[2]) if match else None


def is_unsigned(element: str) -> bool:
    """Whether a program has the numbers from 0 on for the words of a type: conditions, and types such as
    `ui8`."""
    return element == "i1" or element.startswith("ui")


def least_and_greatest(element: str) -> tuple[int, int]:
    """The range of the numbers that a program has for the words of a type of whole numbers."""
    width = width_of(element)
    assert width is not None
    half = 1 << max(width - 1, 0)
    return (0, 2 * half - 1) if is_unsigned(element) else (-half, half - 1)


def signed_word(number: int, element: str) -> int:
    """What a program has for the lowest bits of a whole number."""
    width = width_of(element)
    if width is None:
        return number
    low, _ = least_and_greatest(element)
    return (number - low) % (1 << width) + low


def words_of_data(values: npt.NDArray[Any], element: str) -> npt.NDArray[Any]:
    """Data of a type of whole numbers as a program has them: 200 for an `i8` is the word of -56.

    Raises:
        ValueError: for a number that is not a word of the type; the error holds it.
    """
    width = width_of(element)
    if width is None or not values.size:
        return values
    if values.dtype.kind in "biu":
        values = values.astype(np.int64)
    low, _ = least_and_greatest(element)
    wrong = (values != np.floor(values)) | (values < min(low, -(2.0 ** (width - 1)))) | (values >= 2.0**width)
    if wrong.any():
        raise ValueError(f"{values[wrong].flat[0]:g}")
    if width >= _INDEX_WIDTH:
        return values
    return (values - low) % (1 << width) + low


# Operations


def as_word(numbers: Any, element: str) -> Words:
    """What stands for the lowest bits of whole numbers."""
    held = np.asarray(numbers).astype(np.int64)
    width = width_of(element)
    assert width is not None
    if width >= 64:
        return held
    low, _ = least_and_greatest(element)
    return (held - low) % (1 << width) + low


def as_signed(words: Any, element: str) -> Words:
    """The numbers of words with their signs."""
    held = np.asarray(words, np.int64)
    return -held if element == "i1" else held


def as_unsigned(words: Any, element: str) -> npt.NDArray[np.uint64]:
    """The numbers of words from 0 on."""
    width = width_of(element)
    assert width is not None
    mask = np.uint64((1 << width) - 1)
    found: npt.NDArray[np.uint64] = np.asarray(words, np.int64).astype(np.uint64) & mask
    return found


def _toward_zero(a: Words, b: Words) -> Words:
    """The quotient, which NumPy floors."""
    down = _divided(a, b)
    found: Words = down + ((down < 0) & (down * b != a))
    return found


def _divided(a: Any, b: Any) -> Any:
    return np.floor_divide(a, np.where(b == 0, 1, b))  # What is divided by zero has no meaning.


def _remainder(a: Any, b: Any) -> Any:
    return a - _toward_zero(a, b) * b


def _up(a: Any, b: Any) -> Any:
    down = _divided(a, b)
    return down + (down * b != a).astype(down.dtype)


_SIGNED: Mapping[str, Combine] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.divsi": _toward_zero,
    "arith.floordivsi": _divided,
    "arith.ceildivsi": _up,
    "arith.remsi": _remainder,
    "math.ipowi": lambda a, b: np.power(a, np.maximum(b, 0)),
}
_UNSIGNED: Mapping[str, Combine] = {
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
    "arith.shrui": np.right_shift,
    "arith.divui": _divided,
    "arith.ceildivui": _up,
    "arith.remui": lambda a, b: a - _divided(a, b) * b,
}
BITS = ("arith.andi", "arith.ori", "arith.xori")
SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
DIVISIONS = tuple(
    f"arith.{name}" for name in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")
)
WHOLE = frozenset((*_SIGNED, *_UNSIGNED))
"""The operations of two whole numbers of one type."""

_OTHERS_OF_WHOLE = frozenset(
    {
        *("arith.cmpi", "math.absi", "arith.extsi", "arith.extui", "arith.trunci", "arith.sitofp"),
        *("arith.uitofp", "arith.index_cast", "arith.index_castui"),
    }
)


def check_operands(name: str, element: str) -> None:
    """Raises `UnsupportedError` for an operation of floating point that takes whole numbers, and the other
    way round."""
    is_whole = name in WHOLE or name in _OTHERS_OF_WHOLE
    if name not in ("arith.select", "arith.bitcast") and is_whole != (width_of(element) is not None):
        raise UnsupportedError(f"takes {element}, for which it has no meaning", "mend its type")


def whole_operation(name: str, element: str, a: Any, b: Any) -> Words:
    """What an operation of `WHOLE` makes of words of a type."""
    if name in _UNSIGNED:
        return as_word(_UNSIGNED[name](as_unsigned(a, element), as_unsigned(b, element)), element)
    return as_word(_SIGNED[name](as_signed(a, element), as_signed(b, element)), element)
