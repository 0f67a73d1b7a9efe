"""Words of whole numbers: `i8` has 256 of them, which stand for -128 to 127 or for 0 to 255, as an operation
takes them.

A program has the number from -128 to 127 for each word, and 0 or 1 for a condition (`i1`).
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["is_unsigned", "least_and_greatest", "signed_word", "width_of", "words_of_data"]

_INTEGER = re.compile(r"([us]?)i(\d{1,4})")
_INDEX_WIDTH = 64


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
        ValueError: for a number that is no word of the type; the error holds it.
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
