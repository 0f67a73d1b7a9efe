"""Recurrent layers: a scan for each layer and direction, whose step is a cell that PyTorch says."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.torch.importer import Importer
from samhw.importers.torch.operands import Operand
from samhw.importers.torch.registry import operator

__all__: list[str] = []


@operator("joined", library="samhw")
def import_joined(importer: Importer, one: Operand, other: Operand) -> Value:
    return importer.operations.joined_sums(importer.value(one), importer.value(other))


@operator("lstm")
def import_lstm(
    importer: Importer, x: Operand, states: Sequence[Operand], *rest: Any
) -> tuple[Value, Value, Value]:
    every, (state, cell) = _layers(importer, "lstm_cell", x, states, *rest)
    return every, state, cell


def import_layer(
    cell: str, importer: Importer, x: Operand, state: Operand, *rest: Any
) -> tuple[Value, Value]:
    every, (last,) = _layers(importer, cell, x, [state], *rest)
    return every, last


for _name in ("gru", "rnn_tanh", "rnn_relu"):
    operator(_name)(partial(import_layer, f"{_name}_cell"))


def _layers(
    importer: Importer,
    cell: str,
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
    lasts: list[Sequence[Value]] = []
    for layer in range(layers):
        value = importer.materialized(value)
        sides = []
        for side in range(directions):
            place = layer * directions + side
            weights: list[Operand | None] = list(parameters[place * count : (place + 1) * count])
            weights[2:2] = [] if has_biases else [None, None]
            start = [importer.views.slice(importer.value(state), 0, place, 1) for state in states]
            start = [replace(state, modes=state.modes[1:]) for state in start]
            every, last = _scanned(importer, cell, value, start, weights, down=side == 1)
            sides.append(every)
            lasts.append(last)
        value = sides[0] if directions == 1 else importer.joined(sides, len(value.modes) - 1)
    if batch_first:
        value = replace(value, modes=(value.modes[1], value.modes[0], *value.modes[2:]))
    return value, [_stacked(importer, [last[n] for last in lasts]) for n in range(len(states))]


def _scanned(
    importer: Importer,
    cell: str,
    x: Value,
    start: Sequence[Value],
    weights: Sequence[Operand | None],
    *,
    down: bool,
) -> tuple[Value, Sequence[Value]]:
    def body(states: Sequence[Value], now: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value]]:
        found = importer.call(cell, now[0], list(states) if len(states) > 1 else states[0], *weights)
        after = list(map(importer.materialized, found if len(states) > 1 else [found]))
        return after, after[:1]

    steps = importer.shape(x)[0]
    last, (every,), _ = importer.scans.scan(body, start, [x], steps, down=down)
    return every, last


def _stacked(importer: Importer, values: Sequence[Value]) -> Value:
    """Values one after the other along a first mode."""
    if len(values) == 1:
        return replace(values[0], modes=((), *values[0].modes))
    found: Value = importer.call("stack", list(values), 0)
    return found
