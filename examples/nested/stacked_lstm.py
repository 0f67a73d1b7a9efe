"""A stacked LSTM: a fold over layers of a scan over steps, with four gates side by side in a cell.

`python examples/nested/stacked_lstm.py` prints the rounds of the paper's shape: 64 steps and 32 layers.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType, sigmoid


def stacked_lstm(xss, wss, uss, bss):
    """The last layer of a stacked LSTM. Its gates are in the order input, forget, output, candidate.

    Args:
        xss: [batch, steps] of [hidden].
        wss, uss: [layers, 4] of [hidden, hidden].
        bss: [layers, 4] of [hidden].
    """
    zero = np.zeros(bss.type.shape)

    def layer(xs, ws, us, bs):
        def cell(state, x):
            h, c = state
            z = nested.zip(ws, us, bs).map(lambda w, u, b: x @ w + h @ u + b)
            c = sigmoid(z[1]) * c + sigmoid(z[0]) * np.tanh(z[3])
            return sigmoid(z[2]) * np.tanh(c), c

        hs, _ = xs.scanl(cell, (zero, zero))
        return hs

    return xss.map(lambda xs: nested.zip(wss, uss, bss).foldl(layer, xs))


def example():
    """The function and types of its arguments, for `samhw run examples/nested/stacked_lstm.py:example`."""
    weights = ListType((2, 4), (2, 2))
    return stacked_lstm, (ListType((2, 3), (2,)), weights, weights, ListType((2, 4), (2,)))


if __name__ == "__main__":
    weights = ListType((32, 4), (8, 8))
    found = nested.dependences(
        stacked_lstm, ListType((2, 64), (8,)), weights, weights, ListType((32, 4), (8,))
    )
    for wavefront in found.wavefronts:
        print(wavefront)
