"""Reductions of many words to one, and linear recurrences, in the order of accumulation that models and
hardware keep to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from samhw.errors import InputError
from samhw.graph.numerics.operations import REDUCTIONS
from samhw.graph.numerics.valuetype import BLOCK, OVERFLOW, RECURRENCE_BLOCK, ValueType, Words
from samhw.words import did_you_mean

__all__ = ["neutral", "recurrence_word", "reduce_words", "start_word"]


def reduce_words(kind: ValueType, op: str, words: ArrayLike) -> int:
    """The reduction (`sum`, `max`, `min`, `prod`) of a flat array of words to one word; zero for none.

    Floating-point sums, and all products, are taken in blocks of `BLOCK` elements, each pairwise, and the
    blocks one after another; everything else in sequence. Gives `OVERFLOW` if an intermediate result leaves
    the type's range.

    Raises:
        InputError: for another reduction.
    """
    if op not in REDUCTIONS:
        raise InputError(
            f"There is no reduction {op!r}{did_you_mean(op, REDUCTIONS)}; the reductions are "
            f"{', '.join(REDUCTIONS)}."
        )
    array = np.asarray(words, dtype=np.int64).ravel()
    operation = REDUCTIONS[op]
    if kind.block(op) > 1:
        array = _pairwise(kind, operation, array)
        if (array == OVERFLOW).any():
            return OVERFLOW
    first, *rest = array.tolist() or [0]
    step = kind.scalar(operation)
    total: int = first
    for word in rest:
        total = step(total, word)
        if total == OVERFLOW:
            break
    return total


def start_word(kind: ValueType, op: str) -> int:
    """What a running reduction begins with, before the first element: one for `prod`, else zero."""
    return kind.scalar("eq")(0, 0) if op == "prod" else 0


def neutral(kind: ValueType, op: str) -> int | float:
    """The number that changes no reduction (`sum`, `max`, `min` or `prod`) that it takes part in.

    Raises:
        InputError: for a product of a type that has no 1.
    """
    if op == "prod" and kind.greatest < 1:
        raise InputError(f"{kind} has no 1, which changes no product; choose a type with more whole bits.")
    match op:
        case "max":
            return kind.least
        case "min":
            return kind.greatest
        case _:
            return int(op == "prod")


def _pairwise(kind: ValueType, operation: str, words: Words) -> Words:
    """The result of each block, `OVERFLOW` if some step overflows. An element without a partner goes on to
    the next round as it is."""

    def step(a: Words, b: Words) -> Words:
        is_over = (a == OVERFLOW) | (b == OVERFLOW)
        return np.where(is_over, OVERFLOW, kind.apply(operation, a * ~is_over, b * ~is_over))

    whole = len(words) // BLOCK * BLOCK
    blocks, last = words[:whole].reshape(-1, BLOCK), words[whole:]
    while blocks.shape[1] > 1:
        blocks = step(blocks[:, ::2], blocks[:, 1::2])
    while len(last) > 1:
        pairs = len(last) // 2 * 2
        last = np.append(step(last[:pairs:2], last[1:pairs:2]), last[pairs:])
    return np.concatenate([blocks[:, 0], last])


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
