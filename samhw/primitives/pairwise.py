"""The sum of several words: neighbours, then the sums of neighbours, and so on."""

from samhw.numerics import ScalarOp
from samhw.primitives.step import Words

__all__ = ["pairwise"]


def pairwise(op: ScalarOp, words: Words, begin: int, count: int, length: int) -> int:
    """Combines neighbours again and again, one without a partner going on as it is, in several sums side by
    side.

    Args:
        words: the first of each sum from `begin` on, then the second of each, and so on; and behind all of
            them as much room again, which is used too.
        count: how many are combined to one.
        length: how many sums there are.

    Returns:
        Where they lie side by side in the end; negative if a result leaves the range.
    """
    source, target = begin, begin + count * length
    while count > 1:
        half = count >> 1
        wrong = 0
        t = 0
        while t < half:
            n = 0
            while n < length:
                x = op(words[source + 2 * t * length + n], words[source + (2 * t + 1) * length + n])
                wrong |= x
                words[target + t * length + n] = x
                n += 1
            t += 1
        if wrong < 0:
            return wrong
        n = 0
        while n < length and count & 1:
            words[target + half * length + n] = words[source + 2 * half * length + n]
            n += 1
        count = count + 1 >> 1
        source, target = target, source
    return source
