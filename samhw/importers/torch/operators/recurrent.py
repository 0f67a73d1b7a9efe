"""Recurrent layers: a scan for each layer and direction, and single steps of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator
from samhw.importers.torch.value import Known
from samhw.lang.functions import relu, sigmoid, tanh

__all__: list[str] = []

States = Sequence[Value]


@dataclass(frozen=True)
class _Weights:
    """What a layer multiplies by, in one direction: its input, its state, and, of an LSTM that has it, its
    output."""

    of_input: Operand
    of_state: Operand
    bias: Operand | None = None
    state_bias: Operand | None = None
    projection: Operand | None = None


Step = Callable[[Importer, Value, States, _Weights], States]
"""The states behind a step, of its input and the states before it; the first one is what the layer gives."""


def _lstm(importer: Importer, x: Value, states: States, weights: _Weights) -> States:
    """c = sigmoid(f) c' + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c)"""
    before, cell = states
    i, f, g, o = (_gate(importer, x, before, weights, gate, 4) for gate in range(4))
    cell = importer.materialized(
        importer.elementwise(lambda i, f, g, c: sigmoid(f) * c + sigmoid(i) * tanh(g), i, f, g, cell)
    )
    state = importer.elementwise(lambda o, c: sigmoid(o) * tanh(c), o, cell)
    if weights.projection is not None:
        projected = importer.call("linear", importer.materialized(state), weights.projection)
        state = projected
    return importer.materialized(state), cell


def _gru(importer: Importer, x: Value, states: States, weights: _Weights) -> States:
    """n = tanh(Wx + b + sigmoid(r) (Uh' + c)), h = n + sigmoid(z) (h' - n)"""
    (before,) = states
    r, z = (_gate(importer, x, before, weights, gate, 3) for gate in range(2))
    of_input = _sum(importer, x, *_part(importer, weights.of_input, weights.bias, 2, 3))
    of_state = _sum(importer, before, *_part(importer, weights.of_state, weights.state_bias, 2, 3))
    new = importer.materialized(
        importer.elementwise(lambda r, n, h: tanh(n + sigmoid(r) * h), r, of_input, of_state)
    )
    state = importer.elementwise(lambda z, n, h: n + sigmoid(z) * (h - n), z, new, before)
    return (importer.materialized(state),)


def _rnn_tanh(importer: Importer, x: Value, states: States, weights: _Weights) -> States:
    total = _gate(importer, x, states[0], weights, 0, 1)
    return (importer.materialized(importer.elementwise(tanh, total)),)


def _rnn_relu(importer: Importer, x: Value, states: States, weights: _Weights) -> States:
    total = _gate(importer, x, states[0], weights, 0, 1)
    return (importer.materialized(importer.elementwise(relu, total)),)


def _gate(importer: Importer, x: Value, state: Value, weights: _Weights, gate: int, gates: int) -> Value:
    """Input and state times their weights of a gate, and the biases, in one sum."""
    weight, bias = _part(importer, weights.of_input, weights.bias, gate, gates)
    inner, more = _part(importer, weights.of_state, weights.state_bias, gate, gates)
    if isinstance(bias, Known) and isinstance(more, Known):
        bias, more = Known(bias.dense() + more.dense(), bias.name), None
    of_input = _sum(importer, x, weight, bias)
    total = importer.operations.joined_sums(of_input, _sum(importer, state, inner, more))
    return importer.materialized(total)


def _sum(importer: Importer, x: Value, weight: Operand, bias: Operand | None) -> Value:
    found = importer.call("linear", x, weight, bias)
    return importer.materialized(found)


def _part(
    importer: Importer, weight: Operand, bias: Operand | None, gate: int, gates: int
) -> tuple[Operand, Operand | None]:
    """The rows of a weight and of a bias that belong to a gate."""
    return _rows(importer, weight, gate, gates), None if bias is None else _rows(importer, bias, gate, gates)


def _rows(importer: Importer, held: Operand, gate: int, gates: int) -> Operand:
    size = importer.shape(held)[0] // gates
    if gates == 1:
        return held
    if isinstance(held, Known) and held.held is None and len(held.shape) == 1:
        return Known(held.dense()[gate * size : (gate + 1) * size], f"{held.name}_{gate}")
    return importer.views.slice(importer.value(held), 0, gate * size, size)


# Layers


@operator("lstm")
def import_lstm(
    importer: Importer, x: Operand, states: Sequence[Operand], *rest: Any
) -> tuple[Value, Value, Value]:
    every, (state, cell) = _layers(importer, _lstm, x, states, *rest)
    return every, state, cell


@operator("gru")
def import_gru(importer: Importer, x: Operand, state: Operand, *rest: Any) -> tuple[Value, Value]:
    every, (last,) = _layers(importer, _gru, x, [state], *rest)
    return every, last


@operator("rnn_tanh")
def import_rnn_tanh(importer: Importer, x: Operand, state: Operand, *rest: Any) -> tuple[Value, Value]:
    every, (last,) = _layers(importer, _rnn_tanh, x, [state], *rest)
    return every, last


@operator("rnn_relu")
def import_rnn_relu(importer: Importer, x: Operand, state: Operand, *rest: Any) -> tuple[Value, Value]:
    every, (last,) = _layers(importer, _rnn_relu, x, [state], *rest)
    return every, last


def _layers(
    importer: Importer,
    step: Step,
    x: Operand,
    states: Sequence[Operand],
    parameters: Sequence[Operand],
    has_biases: bool = True,
    layers: int = 1,
    dropout: float = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> tuple[Value, list[Value]]:
    """What the last layer gives at all steps, and the last states of all layers.

    Raises:
        UnsupportedError: for dropout while training.
    """
    if train and dropout:
        raise UnsupportedError("draws random numbers", "call model.eval(), or leave out the dropout")
    directions = 2 if bidirectional else 1
    count = len(parameters) // (layers * directions)
    value = importer.value(x)
    if batch_first:
        value = replace(value, modes=(value.modes[1], value.modes[0], *value.modes[2:]))
    lasts: list[States] = []
    for layer in range(layers):
        value = importer.materialized(value)
        sides = []
        for side in range(directions):
            place = layer * directions + side
            weights = _weights(parameters[place * count : (place + 1) * count], has_biases)
            start = [importer.views.slice(importer.value(state), 0, place, 1) for state in states]
            start = [replace(state, modes=state.modes[1:]) for state in start]
            every, last = _scanned(importer, step, value, start, weights, down=side == 1)
            sides.append(every)
            lasts.append(last)
        value = sides[0] if directions == 1 else importer.tensors.concatenated(sides, len(value.modes) - 1)
    if batch_first:
        value = replace(value, modes=(value.modes[1], value.modes[0], *value.modes[2:]))
    return value, [_stacked(importer, [last[n] for last in lasts]) for n in range(len(states))]


def _weights(parameters: Sequence[Operand], has_biases: bool) -> _Weights:
    """As PyTorch has them in a row, the projection last."""
    if has_biases:
        return _Weights(*parameters)
    of_input, of_state, *projection = parameters
    return _Weights(of_input, of_state, projection=projection[0] if projection else None)


def _scanned(
    importer: Importer, step: Step, x: Value, start: States, weights: _Weights, *, down: bool
) -> tuple[Value, States]:
    def body(states: States, now: States) -> tuple[States, States]:
        after = step(importer, now[0], states, weights)
        return after, after[:1]

    steps = importer.shape(x)[0]
    last, (every,), _ = importer.scans.scan(body, start, [x], steps, down=down)
    return every, last


def _stacked(importer: Importer, values: Sequence[Value]) -> Value:
    """Values one behind the other along a first mode."""
    if len(values) == 1:
        return replace(values[0], modes=((), *values[0].modes))
    found: Value = importer.call("stack", list(values), 0)
    return found


# Single steps


@operator("lstm_cell")
def import_lstm_cell(
    importer: Importer, x: Operand, states: Sequence[Operand], *weights: Operand
) -> tuple[Value, ...]:
    held = [importer.materialized(state) for state in states]
    return tuple(_lstm(importer, importer.materialized(x), held, _Weights(*weights)))


@operator("gru_cell")
def import_gru_cell(importer: Importer, x: Operand, state: Operand, *weights: Operand) -> Value:
    return _gru(importer, importer.materialized(x), [importer.materialized(state)], _Weights(*weights))[0]


@operator("rnn_tanh_cell")
def import_rnn_tanh_cell(importer: Importer, x: Operand, state: Operand, *weights: Operand) -> Value:
    held = [importer.materialized(state)]
    return _rnn_tanh(importer, importer.materialized(x), held, _Weights(*weights))[0]


@operator("rnn_relu_cell")
def import_rnn_relu_cell(importer: Importer, x: Operand, state: Operand, *weights: Operand) -> Value:
    held = [importer.materialized(state)]
    return _rnn_relu(importer, importer.materialized(x), held, _Weights(*weights))[0]
