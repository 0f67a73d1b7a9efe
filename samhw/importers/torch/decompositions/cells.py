"""A step of recurrent layers: input and state times their weights of each gate, and what becomes of that."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from samhw.importers.torch.own_operators import alone, joined
from samhw.importers.torch.registry import decomposition

__all__: list[str] = []

Weights = tuple[Tensor, Tensor, Tensor | None, Tensor | None]
"""Of the input and of the state, and a bias of each."""


def sums(
    x: Tensor, state: Tensor, weights: Weights, gate: int, gates: int, *, at_once: bool = False
) -> tuple[Any, Any]:
    """Input and state times their rows of a gate's weights, to one of which both biases may go."""
    size = len(weights[0]) // gates
    one, other, bias, more = (
        held if held is None or gates == 1 else held.narrow(0, gate * size, size) for held in weights
    )
    if at_once and bias is not None and more is not None:
        bias, more = bias + more, None
    return alone(F.linear(x, one, bias)), alone(F.linear(state, other, more))  # type: ignore[arg-type]


def total(x: Tensor, state: Tensor, weights: Weights, gate: int, gates: int) -> Any:
    """Both in one sum."""
    return alone(joined(*sums(x, state, weights, gate, gates, at_once=True)))


@decomposition("lstm_cell")
def lstm(
    x: Tensor,
    states: Sequence[Tensor],
    of_input: Tensor,
    of_state: Tensor,
    bias: Tensor | None = None,
    more: Tensor | None = None,
    projection: Tensor | None = None,
) -> tuple[Any, Any]:
    """c = sigmoid(f) c' + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c)"""
    before, cell = states
    i, f, g, o = (total(x, before, (of_input, of_state, bias, more), gate, 4) for gate in range(4))
    cell = alone(f.sigmoid() * cell + i.sigmoid() * g.tanh())
    state = alone(o.sigmoid() * cell.tanh())
    return state if projection is None else alone(F.linear(state, projection)), cell


@decomposition("gru_cell")
def gru(x: Tensor, state: Tensor, *weights: Tensor | None) -> Any:
    """n = tanh(Wx + b + sigmoid(r) (Uh' + c)), h = n + sigmoid(z) (h' - n)"""
    held: Any = (*weights, None, None)[:4]
    r, z = (total(x, state, held, gate, 3) for gate in range(2))
    of_input, of_state = sums(x, state, held, 2, 3)
    new = torch.tanh(of_input + r.sigmoid() * of_state)
    return alone(new + z.sigmoid() * (state - new))


def simple(function: Callable[[Tensor], Tensor], x: Tensor, state: Tensor, *weights: Tensor | None) -> Any:
    held: Any = (*weights, None, None)[:4]
    return alone(function(total(x, state, held, 0, 1)))


decomposition("rnn_tanh_cell")(partial(simple, torch.tanh))
decomposition("rnn_relu_cell")(partial(simple, torch.relu))
