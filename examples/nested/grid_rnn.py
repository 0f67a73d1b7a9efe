"""A grid RNN: scans along a source and along a target, in a scan over layers.

`python examples/nested/grid_rnn.py` prints the rounds of a grid of 10 by 10 with 32 layers.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType


def grid_rnn(src, trg, wxs, uxs, bxs, wys, uys, bys):
    """Both states of the last layer, at each pair of a source and a target.

    Args:
        src, trg: [source] of [hidden], [target] of [hidden].
        wxs, wys: [layers] of [hidden, hidden], for what comes from the layer below.
        uxs, uys: [layers] of [2 * hidden, hidden]: for the state of the pair before in the source, and for
            that of the pair before in the target.
        bxs, bys: [layers] of [hidden].
    """
    hidden = src.type.shape[0]
    zero, zeros = np.zeros(hidden), nested.full((len(trg),), (hidden,), 0)

    def layer(state, wx, ux, bx, wy, uy, by):
        def row(above, xs, ys):
            def cell(left, x, y, up):
                _, before = left
                sx = up @ ux[0] + before @ ux[1]
                sy = up @ uy[0] + before @ uy[1]
                return np.tanh(x @ wx + sx + bx), np.tanh(y @ wy + sy + by)

            return nested.zip(xs, ys, above[0]).scanl(cell, (zero, zero))

        xss, yss = state
        return nested.zip(xss, yss).scanl(row, (zeros, zeros))

    targets, sources = nested.product(trg, src)
    return nested.zip(wxs, uxs, bxs, wys, uys, bys).foldl(layer, (sources, targets))


def types(layers, source, target, hidden):
    """The types of its parameters. The two halves of u are a list of two."""
    weights = [ListType((layers,), (hidden, hidden)), ListType((layers, 2), (hidden, hidden))]
    return [
        ListType((source,), (hidden,)),
        ListType((target,), (hidden,)),
        *(2 * [*weights, ListType((layers,), (hidden,))]),
    ]


def example():
    """The function and types of its arguments, for `samhw run examples/nested/grid_rnn.py:example`."""
    return grid_rnn, types(2, 2, 3, 2)


if __name__ == "__main__":
    for wavefront in nested.dependences(grid_rnn, *types(32, 10, 10, 4)).wavefronts:
        print(wavefront)
