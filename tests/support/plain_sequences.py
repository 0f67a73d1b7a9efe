"""The built-in programs with windows and recurrences in loops of plain NumPy, each from what it computes.

Nothing here knows of samhw. The arguments are those of the programs, in their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PLAIN"]

Array = NDArray[Any]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def stacked_rnn(x: Array, w: Array) -> Array:
    batch, steps, hidden = x.shape
    found = np.zeros((batch, len(w), steps, hidden))
    for n in range(batch):
        for d in range(len(w)):
            for t in range(steps):
                below = found[n, d - 1, t] if d else x[n, t]
                found[n, d, t] = below @ w[d] + (found[n, d, t - 1] if t else 0)
    return found


def lstm(x: Array, h: Array, c: Array, w: Array, u: Array, b: Array) -> tuple[Array, Array]:
    """A cell whose gates are input, forget, output, candidate."""
    z = [x @ w[k] + h @ u[k] + b[k] for k in range(4)]
    c = sigmoid(z[1]) * c + sigmoid(z[0]) * np.tanh(z[3])
    return sigmoid(z[2]) * np.tanh(c), c


def stacked_lstm(x: Array, w: Array, u: Array, b: Array) -> Array:
    found = x.copy()
    for n in range(len(x)):
        for d in range(len(w)):
            h = c = np.zeros(x.shape[2])
            for t in range(x.shape[1]):
                h, c = lstm(found[n, t], h, c, w[d], u[d], b[d])
                found[n, t] = h
    return found


def dilated_rnn(x: Array, w: Array, u: Array, b: Array) -> Array:
    zero, found = np.zeros(x.shape[1]), x
    for d in range(len(w)):
        h, c = np.zeros(x.shape), np.zeros(x.shape)
        for t in range(len(x)):
            before = t - 2**d
            h0, c0 = (h[before], c[before]) if before >= 0 else (zero, zero)
            h[t], c[t] = lstm(found[t], h0, c0, w[d], u[d], b[d])
        found = h
    return found


def grid_rnn(
    src: Array, trg: Array, wx: Array, ux: Array, bx: Array, wy: Array, uy: Array, by: Array
) -> tuple[Array, Array]:
    source, target, zero = len(src), len(trg), np.zeros(src.shape[1])
    below = {(i, j): (src[i], trg[j]) for i in range(source) for j in range(target)}
    for d in range(len(wx)):
        here: dict[tuple[int, int], tuple[Any, Any]] = {}
        for i in range(source):
            for j in range(target):
                up = here[i - 1, j][0] if i else zero
                left = here[i, j - 1][1] if j else zero
                x, y = below[i, j]
                here[i, j] = (
                    np.tanh(x @ wx[d] + (up @ ux[d, 0] + left @ ux[d, 1]) + bx[d]),
                    np.tanh(y @ wy[d] + (up @ uy[d, 0] + left @ uy[d, 1]) + by[d]),
                )
        below = here
    one, other = ([[below[i, j][k] for j in range(target)] for i in range(source)] for k in (0, 1))
    return np.array(one), np.array(other)


def b2b_gemm(a: Array, b: Array, c: Array) -> Array:
    whole = np.concatenate(list(a)) @ np.concatenate(list(b), axis=1) @ np.concatenate(list(c))
    return whole.reshape(*a.shape[:2], c.shape[2])


def flash_attention(q: Array, k: Array, v: Array) -> Array:
    rows, keys, values = (np.concatenate(list(x)) for x in (q, k, v))
    weights = np.exp(rows @ keys.T)
    return (weights @ values / weights.sum(axis=1, keepdims=True)).reshape(q.shape)


def bigbird_blocked(q: Array, k: Array, v: Array) -> Array:
    found, blocks = [], len(q)
    for i in range(2, blocks - 2):
        seen = [0, i - 1, i, i + 1, blocks - 1]
        weights = np.exp(np.concatenate([q[i] @ k[j].T for j in seen], axis=1))
        total = weights.sum(axis=1, keepdims=True)
        found.append(weights @ np.concatenate([v[j] for j in seen]) / total)
    return np.array(found)


def conv2d(X: Array, K: Array, b: Array) -> Array:
    padded = np.pad(X, ((0, 0), (1, 1), (1, 1)))
    rows, columns = (n // 2 for n in X.shape[1:])
    found = np.zeros((len(b), rows, columns))
    for i in range(rows):
        for j in range(columns):
            found[:, i, j] = np.einsum("cyx,fcyx->f", padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3], K)
    return np.maximum(found + b[:, None, None], 0)


def sparse_conv3d(X: Array, M: Array, K: Array) -> Array:
    padded = np.pad(X, (*[(1, 1)] * 3, (0, 0)))
    found = np.zeros((*M.shape, K.shape[-1]))
    for site in np.argwhere(M):
        x, y, z = site
        found[x, y, z] = np.einsum("abdc,abdcf->f", padded[x : x + 3, y : y + 3, z : z + 3], K)
    return found


def retention(Q: Array, K: Array, V: Array, rate: Array) -> Array:
    decay = sigmoid(rate)
    state, found = np.zeros((len(rate), Q.shape[2], V.shape[2])), []
    for t in range(Q.shape[1]):
        state = decay[:, None, None] * state + K[:, t, :, None] * V[:, t, None, :]
        found.append(np.einsum("hk,hkv->hv", Q[:, t], state))
    return np.stack(found, 1)


def selective_scan(X: Array, step: Array, A: Array, B: Array, C: Array, D: Array) -> Array:
    width = np.log1p(np.exp(step))
    state, found = np.zeros(A.shape), []
    for t in range(len(X)):
        state = np.exp(-width[t][:, None] * np.exp(A)) * state + np.outer(width[t] * X[t], B[t])
        found.append(state @ C[t] + D * X[t])
    return np.stack(found)


PLAIN: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        b2b_gemm,
        bigbird_blocked,
        conv2d,
        dilated_rnn,
        flash_attention,
        grid_rnn,
        retention,
        selective_scan,
        sparse_conv3d,
        stacked_lstm,
        stacked_rnn,
    )
}
"""By the programs' names."""
