"""Attention block by block: a reduction over blocks of keys that carries the maximum, the sum and the result.

`python examples/nested/flash_attention.py` prints it, and compares it with attention as it is defined.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType


def flash_attention(qs, ks, vs):
    """Attention without a scale.

    Args:
        qs, ks, vs: [blocks] of [rows, head], queries, keys and values.
    """
    rows, head = qs.type.shape

    def query(q):
        def step(state, k, v):
            greatest, total, result = state
            scores = q @ k.T
            own = scores.max(axis=1, keepdims=True)
            weights = np.exp(scores - own)
            new = np.maximum(greatest, own)
            before, now = np.exp(greatest - new), np.exp(own - new)
            sums = before * total + now * weights.sum(axis=1, keepdims=True)
            return new, sums, (result * total * before + now * (weights @ v)) / sums

        start = (np.full((rows, 1), -np.inf), np.zeros((rows, 1)), np.zeros((rows, head)))
        return nested.zip(ks, vs).reduce(step, start)[2]

    return qs.map(query)


def example():
    """The function and types of its arguments, for `samhw run examples/nested/flash_attention.py:example`."""
    blocks = ListType((3,), (4, 4))
    return flash_attention, (blocks, blocks, blocks)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((4, 8, 8)) for _ in range(3))
    lists = [nested.nested_tensor(x) for x in (q, k, v)]
    print(nested.dependences(flash_attention, *lists))
    scores = q.reshape(32, 8) @ k.reshape(32, 8).T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights / weights.sum(axis=1, keepdims=True) @ v.reshape(32, 8)
    found = flash_attention(*lists).array.reshape(32, 8)
    print(f"greatest difference from attention: {abs(found - expected).max():.1e}")
