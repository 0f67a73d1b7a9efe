"""A dilated RNN: layer d has a state for each of 2^d interleaved sequences.

Each layer is one scan; together they are a stack, whose diagonals are rounds.
`python examples/nested/dilated_rnn.py` prints the rounds of 50 steps and 6 layers.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType, sigmoid


def dilated_rnn(xs, wss, uss, bss):
    """LSTM layers with dilations 1, 2, 4, ...

    Args:
        xs: [steps] of [hidden].
        wss, uss: [layers, 4] of [hidden, hidden].
        bss: [layers, 4] of [hidden].
    """
    zero = np.zeros(bss.type.shape)
    for layer in range(len(wss)):
        ws, us, bs = wss[layer], uss[layer], bss[layer]

        def cell(state, x, ws=ws, us=us, bs=bs):
            h, c = state
            z = [x @ ws[k] + h @ us[k] + bs[k] for k in range(4)]
            c = sigmoid(z[1]) * c + sigmoid(z[0]) * np.tanh(z[3])
            return sigmoid(z[2]) * np.tanh(c), c

        xs = xs.dilated_map(lambda ys, cell=cell: ys.scanl(cell, (zero, zero))[0], 2**layer)
    return xs


def example():
    """The function and types of its arguments, for `samhw run examples/nested/dilated_rnn.py:example`."""
    weights = ListType((2, 4), (2, 2))
    return dilated_rnn, (ListType((5,), (2,)), weights, weights, ListType((2, 4), (2,)))


if __name__ == "__main__":
    weights = ListType((6, 4), (8, 8))
    found = nested.dependences(dilated_rnn, ListType((50,), (8,)), weights, weights, ListType((6, 4), (8,)))
    for wavefront in found.wavefronts:
        print(wavefront)
    layers = [nested.hyperplane(found.function, block) for block in found.function.blocks]
    one_by_one = [layer.rounds for layer in layers if layer is not None]
    print(f"layer by layer: {' + '.join(map(str, one_by_one))} = {sum(one_by_one)} rounds")
