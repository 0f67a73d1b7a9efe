"""Integer steps that read the same for one word, for an array of words, and for the name of a word.

The definitions of operations are written once, on `Bits`: a Python int, an int64 array, or a `Term` whose
steps are written down (straight_line.py). Every intermediate lies in int64, so all give the same result. A
comparison gives a bool, an array of bools or a Term, which `&` and `|` combine.
"""

from typing import Any, TypeAlias

import numpy as np

from samhw.graph.numerics.straight_line import Term

__all__ = ["Bits", "bit_length", "clip", "lookup", "select", "shift_right", "shift_right_sticky", "smaller"]

Bits: TypeAlias = Any
"""An int, an int64 array or a Term; a condition: a bool, an array of bools or a Term."""


def select(condition: Bits, then: Bits, otherwise: Bits) -> Bits:
    """A multiplexer: `then` where the condition holds."""
    if isinstance(condition, np.ndarray):
        return np.where(condition, then, otherwise)
    if isinstance(condition, Term):
        return condition.select(then, otherwise)
    return then if condition else otherwise


def smaller(a: Bits, b: Bits) -> Bits:
    """The lesser of two integers."""
    return select(a < b, a, b)


def clip(x: Bits, lowest: int, highest: int) -> Bits:
    """x, or the nearer end of the range lowest..highest."""
    if isinstance(x, np.ndarray):
        return np.clip(x, lowest, highest)
    return select(x < lowest, lowest, select(x > highest, highest, x))


def bit_length(x: Bits) -> Bits:
    """The number of bits of x, 0 <= x < 2**63, without leading zeros; 0 for 0."""
    if isinstance(x, np.ndarray):
        # The exponent of a float64. With the bit below the leading one cleared, rounding cannot reach the
        # next power of two.
        thinned = (x & ~(x >> 1)).astype(np.float64)
        return np.where(x > 0, (thinned.view(np.int64) >> 52) - 1022, 0)
    length = 0
    for step in (32, 16, 8, 4, 2, 1):
        more = select(x >= 1 << step, step, 0)
        length, x = length + more, x >> more
    return length + x


def shift_right(x: Bits, count: Bits) -> Bits:
    """x >> count for any count >= 0."""
    return x >> clip(count, 0, 63)


def shift_right_sticky(x: Bits, count: Bits) -> Bits:
    """x >> count for x, count >= 0, the bits lost ORed into the lowest bit of the result."""
    count = clip(count, 0, 63)
    kept = x >> count
    return kept | ((kept << count) != x)


def lookup(table: np.ndarray, index: Bits) -> Bits:
    """The entry of a table; a Python int if the index is one."""
    if isinstance(index, np.ndarray):
        return table[index]
    if isinstance(index, Term):
        return index.entry_of(table)
    return int(table[index])
