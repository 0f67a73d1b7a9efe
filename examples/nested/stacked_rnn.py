"""A stacked RNN: a scan over layers of a scan over steps. Both carry a dependence, and yet the cells of one
diagonal are independent.

`python examples/nested/stacked_rnn.py` prints what depends on what, and the rounds of the diagonals.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType


def stacked_rnn(xss, ws):
    """All layers of y[d, l] = y[d - 1, l] @ w[d] + y[d, l - 1], for each sequence.

    Args:
        xss: [batch, steps] of [hidden].
        ws: [layers] of [hidden, hidden].
    """
    return xss.map(lambda xs: ws.scanl(lambda ss, w: ss.scanl(lambda s, x: x @ w + s, 0), xs))


def example():
    """The function and types of its arguments, for `samhw run examples/nested/stacked_rnn.py:example`."""
    return stacked_rnn, (ListType((2, 8), (4,)), ListType((3,), (4, 4)))


if __name__ == "__main__":
    found = nested.dependences(stacked_rnn, ListType((2, 8), (4,)), ListType((3,), (4, 4)))
    print(found)
    rng = np.random.default_rng(0)
    xss = nested.nested_tensor(rng.standard_normal((2, 8, 4)), depth=2)
    ws = nested.nested_tensor(rng.standard_normal((3, 4, 4)), depth=1)
    plain = stacked_rnn(xss, ws)
    reordered = nested.evaluate(found.function, xss, ws, schedules=found.wavefronts)
    print(f"equal in both orders: {np.array_equal(plain.array, reordered.array)}")
