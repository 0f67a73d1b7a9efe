"""The sum of several words: neighbours, then the sums of neighbours, and so on."""

from samhw.numerics import ScalarOp
from samhw.primitives.step import Words

__all__ = ["pairwise"]


def pairwise(op: ScalarOp, words: Words, count: int) -> int:
    """What is left of the first words when neighbours are combined again and again, one without a partner
    going on as it is; negative where a result leaves the range."""
    while count > 1:
        half = count >> 1
        t = 0
        while t < half:
            x = op(words[2 * t], words[2 * t + 1])
            if x < 0:
                return x
            words[t] = x
            t += 1
        if count & 1:
            words[half] = words[count - 1]
        count = count + 1 >> 1
    return words[0]
