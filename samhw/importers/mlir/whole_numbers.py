"""What operations of arith and math make of whole numbers, modulo the words of their type, with NumPy."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.core import UnsupportedError
from samhw.importers.mlir.words import least_and_greatest, width_of

__all__ = [
    "BITS",
    "DIVISIONS",
    "SHIFTS",
    "WHOLE",
    "as_signed",
    "as_unsigned",
    "as_word",
    "check_operands",
    "whole_operation",
]

Words = npt.NDArray[np.int64]
Combine = Callable[[Any, Any], Any]


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
