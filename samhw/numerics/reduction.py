"""Reductions of many words to one, in the order of accumulation that models and hardware keep to."""

import numpy as np
from numpy.typing import ArrayLike

from samhw.errors import InputError
from samhw.numerics.operations import REDUCTIONS
from samhw.numerics.valuetype import OVERFLOW, ValueType, Words

__all__ = ["reduce_words"]


def reduce_words(kind: ValueType, op: str, words: ArrayLike) -> int:
    """The reduction (`sum`, `max`, `min`) of a flat array of words to one word; zero for none.

    Floating-point sums are taken in blocks of `kind.block` elements, each pairwise, and the blocks one after
    another; everything else in sequence. Gives `OVERFLOW` if an intermediate result leaves the type's range.

    Raises:
        InputError: for another reduction.
    """
    if op not in REDUCTIONS:
        raise InputError(f"There is no reduction {op!r}; the reductions are {', '.join(REDUCTIONS)}.")
    array = np.asarray(words, dtype=np.int64).ravel()
    if op == "sum" and kind.block > 1:
        array = _pairwise(kind, array)
    first, *rest = array.tolist() or [0]
    step = kind.scalar(REDUCTIONS[op])
    total: int = first
    for word in rest:
        total = step(total, word)
        if total == OVERFLOW:
            break
    return total


def _pairwise(kind: ValueType, words: Words) -> Words:
    """The sum of each block. An element without a partner goes on to the next round as it is."""
    whole = len(words) // kind.block * kind.block
    blocks, last = words[:whole].reshape(-1, kind.block), words[whole:]
    while blocks.shape[1] > 1:
        blocks = kind.apply("add", blocks[:, ::2], blocks[:, 1::2])
    while len(last) > 1:
        pairs = len(last) // 2 * 2
        last = np.append(kind.apply("add", last[:pairs:2], last[1:pairs:2]), last[pairs:])
    return np.concatenate([blocks[:, 0], last])
