"""Linear recurrences of words, in the order that models and hardware keep to."""

from collections.abc import Sequence

from samhw.graph.numerics.valuetype import OVERFLOW, RECURRENCE_BLOCK, ValueType

__all__ = ["recurrence_word"]


def recurrence_word(kind: ValueType, factors: Sequence[int], words: Sequence[int]) -> int:
    """What h = h * r + x has become after some elements, at least one; it begins with the first x.

    The elements of a block of `RECURRENCE_BLOCK` are joined pairwise, and the blocks one after another. Gives
    `OVERFLOW` if an intermediate result leaves the type's range.

    Args:
        factors: r of each element.
        words: x of each element.
    """
    add, multiply = kind.scalar("add"), kind.scalar("mul")
    overflowed = False

    def checked(word: int) -> int:
        nonlocal overflowed
        overflowed |= word == OVERFLOW
        return max(word, 0)

    def rescaled(h: int, r: int, x: int) -> int:
        return checked(add(checked(multiply(h, r)), x))

    h: int | None = None
    elements = list(zip(factors, words, strict=True))
    for start in range(0, len(elements), RECURRENCE_BLOCK):
        block = elements[start : start + RECURRENCE_BLOCK]
        while len(block) > 1:
            pairs = list(zip(block[::2], block[1::2], strict=False))
            joined = [(checked(multiply(a, c)), rescaled(b, c, d)) for (a, b), (c, d) in pairs]
            block = joined + block[2 * len(pairs) :]
        ((r, x),) = block
        h = x if h is None else rescaled(h, r, x)
    assert h is not None
    return OVERFLOW if overflowed else h
