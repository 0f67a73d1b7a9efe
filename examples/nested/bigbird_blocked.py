"""BigBird's attention in blocks, without its random part. Each block of queries sees the first and the last
block of keys, and the three around its own place.

`python examples/nested/bigbird_blocked.py` prints what becomes of its access operators: nothing is copied.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType


def bigbird_blocked(qs, ks, vs):
    """Attention without a scale for all blocks of queries but the first two and the last two.

    Args:
        qs, ks, vs: [blocks] of [rows, head]; at least five blocks.
    """
    around = nested.zip(ks, vs).shifted_slide(window=3)

    def block(q, near_keys, near_values):
        keys = nested.join(ks[:1], near_keys, ks[-1:])
        values = nested.join(vs[:1], near_values, vs[-1:])
        scores = keys.map(lambda k: q @ k.T)
        greatest = scores.map(lambda s: s.max(axis=1, keepdims=True)).reduce(np.maximum)
        weights = scores.map(lambda s: np.exp(s - greatest))
        total = weights.map(lambda w: w.sum(axis=1, keepdims=True)).reduce(np.add)
        return nested.zip(weights, values).map(lambda w, v: w @ v).reduce(np.add) / total

    near_keys, near_values = around
    return nested.zip(qs[2:-2], near_keys[2:-2], near_values[2:-2]).map(block)


def example():
    """The function and types of its arguments, for `samhw run examples/nested/bigbird_blocked.py:example`."""
    blocks = ListType((6,), (4, 4))
    return bigbird_blocked, (blocks, blocks, blocks)


if __name__ == "__main__":
    blocks = ListType((8,), (4, 4))
    print(nested.dependences(bigbird_blocked, blocks, blocks, blocks))
