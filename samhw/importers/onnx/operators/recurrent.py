"""Recurrent layers: a scan for each direction."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.core.operators import clamp, elu, softplus
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.operators.views import stacked
from samhw.importers.onnx.registry import Results, operator
from samhw.importers.onnx.values import Held, NodeCall, Operand
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import leaky_relu, lt, relu, select, sigmoid, tanh

__all__: list[str] = []

_FUNCTIONS: dict[str, Callable[[Expr, float, float], Expr]] = {
    "sigmoid": lambda x, a, b: sigmoid(x),
    "tanh": lambda x, a, b: tanh(x),
    "relu": lambda x, a, b: relu(x),
    "affine": lambda x, a, b: x * a + b,
    "leakyrelu": lambda x, a, b: leaky_relu(x, a),
    "thresholdedrelu": lambda x, a, b: select(lt(a, x), x, 0),
    "scaledtanh": lambda x, a, b: tanh(x * b) * a,
    "hardsigmoid": lambda x, a, b: clamp(x * a + b, 0, 1),
    "elu": lambda x, a, b: elu(x, a),
    "softsign": lambda x, a, b: x / (1 + abs_(x)),
    "softplus": lambda x, a, b: softplus(x),
}
_DEFAULTS = {
    "affine": (1.0, 0.0),
    "leakyrelu": (0.01, 0.0),
    "thresholdedrelu": (1.0, 0.0),
    "scaledtanh": (1.0, 1.0),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0, 0.0),
}

Function = Callable[[Value], Value]
Step = Callable[[Value, Sequence[Value]], Sequence[Value]]
"""Of what stands before the gates, and the states before it, those after it."""


class Layer:
    """A recurrent layer, a direction at a time.

    Args:
        states: how many there are.
    """

    def __init__(self, importer: NodeImporter, call: NodeCall, states: int, named: Sequence[str]) -> None:
        self.importer, self.call = importer, call
        self.states, self.named = states, named
        self.size = int(call.get("hidden_size"))
        self.directions = {"forward": [False], "reverse": [True]}.get(
            call.get("direction", "forward"), [False, True]
        )
        self.batch_first = bool(call.get("layout", 0))

    def part(self, x: Operand | None, side: int) -> Value:
        """A direction's part of a parameter."""
        held = self.importer.views.slice(self.importer.value(x), 0, side, 1)
        return replace(held, modes=held.modes[1:])

    def gate(self, x: Value, gate: int) -> Value:
        """The rows of a gate."""
        return self.importer.views.slice(x, 0, gate * self.size, self.size)

    def function(self, side: int, place: int) -> Function:
        """An activation of a direction, limited as `clip` says."""
        names = self.call.get("activations", [*self.named] * len(self.directions))
        name = names[side * len(self.named) + place].lower()
        if name not in _FUNCTIONS:
            raise UnsupportedError(f"has the activation '{name}'", f"use one of {', '.join(_FUNCTIONS)}")
        alpha, beta = self.numbers(names, side * len(self.named) + place, name)
        make, clip = _FUNCTIONS[name], self.call.get("clip", 0.0)

        def applied(x: Value) -> Value:
            held = self.importer.materialized(x)
            return self.importer.computed(
                lambda e: make(clamp(e, -clip, clip) if clip else e, alpha, beta), held
            )

        return applied

    def numbers(self, names: Sequence[str], place: int, name: str) -> tuple[float, float]:
        """Alpha and beta of an activation: those that are given go to the ones that take some, in order."""
        found = []
        takes = {"alpha": [*_DEFAULTS], "beta": ["affine", "scaledtanh", "hardsigmoid"]}
        for (key, some), default in zip(takes.items(), _DEFAULTS.get(name, (0.0, 0.0)), strict=True):
            before = sum(other.lower() in some for other in names[:place])
            given = self.call.get(f"activation_{key}") or []
            found.append(float(given[before]) if name in some and before < len(given) else default)
        return found[0], found[1]

    def run(
        self, operands: Sequence[Operand | None], step: Callable[[int, Value, Value | None], Step]
    ) -> Results:
        """What the layer gives at all steps, and its last states.

        Args:
            operands: data, weights, recurrent weights, biases, lengths, and what the states are at first.
            step: of a direction, its recurrent weights and biases, the step.
        """
        importer = self.importer
        x, weights, recurrent, bias, lengths, *starts = (*operands, *[None] * 4)[: 5 + self.states]
        held = importer.value(x)
        if self.batch_first:
            held = replace(held, modes=(held.modes[1], held.modes[0], *held.modes[2:]))
        steps, batch, _ = importer.build.shape(held)
        shown = self.shown(lengths, steps, batch)
        held = importer.materialized(held)
        every, lasts = [], []
        for side, down in enumerate(self.directions):
            w, r = self.part(weights, side), self.part(recurrent, side)
            b = None if bias is None else self.part(bias, side)
            before = importer.contract("tbi,gi->tbg", held, w)
            first = [self.start(start, side, batch) for start in starts]
            given, last = self.scanned(step(side, r, b), importer.materialized(before), first, shown, down)
            every.append(given)
            lasts.append(last)
        axis = 2 if self.batch_first else 1
        if self.batch_first:
            every = [replace(e, modes=(e.modes[1], e.modes[0], *e.modes[2:])) for e in every]
        results = [stacked(importer, every, axis)]
        for n in range(self.states):
            results.append(stacked(importer, [last[n] for last in lasts], 1 if self.batch_first else 0))
        return results[: self.call.outputs]

    def start(self, x: Operand | None, side: int, batch: int) -> Value:
        if x is None:
            return self.importer.build.literal(0.0, (batch, self.size))
        if not self.batch_first:
            return self.part(x, side)
        held = self.importer.views.slice(self.importer.value(x), 1, side, 1)
        return replace(held, modes=(held.modes[0], held.modes[2]))

    def shown(self, lengths: Operand | None, steps: int, batch: int) -> Value | None:
        """Of shape (steps, batch, 1): which steps each sequence has; None where all have all."""
        if lengths is None:
            return None
        given = self.importer.decided(lengths, "lengths").reshape(-1)
        if (given >= steps).all():
            return None
        mask = (np.arange(steps)[:, None] < given[None, :]).astype(np.float32)[:, :, None]
        return self.importer.value(Held(mask, "steps"))

    def scanned(
        self, step: Step, before: Value, first: Sequence[Value], shown: Value | None, down: bool
    ) -> tuple[Value, Sequence[Value]]:
        importer = self.importer

        def body(states: Sequence[Value], now: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value]]:
            after = [importer.materialized(x) for x in step(now[0], states)]
            given = after[:1]
            if shown is not None:
                kept = importer.materialized(now[1])
                given = [importer.computed(lambda e, m: e * m, after[0], kept)]
                after = [
                    importer.computed(lambda m, new, old: select(m, new, old), kept, new, old)
                    for new, old in zip(after, states, strict=True)
                ]
            return after, given

        inputs = [before] if shown is None else [before, shown]
        steps = importer.build.shape(before)[0]
        last, (every,), _ = importer.scans.scan(body, first, inputs, steps, down=down)
        return every, last


def _sum(importer: NodeImporter, *terms: Value | None) -> Value:
    kept = [term for term in terms if term is not None]
    return importer.elementwise(lambda e, *more: sum(more, start=e), *kept)


@operator("RNN")
def import_rnn(importer: NodeImporter, call: NodeCall, *operands: Operand | None) -> Results:
    layer = Layer(importer, call, 1, ["Tanh"])

    def step(side: int, r: Value, b: Value | None) -> Step:
        f = layer.function(side, 0)
        biases = [] if b is None else [layer.gate(b, n) for n in range(2)]

        def made(now: Value, states: Sequence[Value]) -> Sequence[Value]:
            return [f(_sum(importer, now, importer.contract("bh,gh->bg", states[0], r), *biases))]

        return made

    return layer.run(operands, step)


def _gate_of(layer: Layer, now: Value, gate: int) -> Value:
    """The numbers of a gate, of those of all gates."""
    return layer.importer.views.slice(now, 1, gate * layer.size, layer.size)


@operator("GRU")
def import_gru(importer: NodeImporter, call: NodeCall, *operands: Operand | None) -> Results:
    layer = Layer(importer, call, 1, ["Sigmoid", "Tanh"])
    after = bool(call.get("linear_before_reset", 0))

    def step(side: int, r: Value, b: Value | None) -> Step:
        f, g = layer.function(side, 0), layer.function(side, 1)
        rows = [layer.gate(r, n) for n in range(3)]
        wb, rb = (
            ([None] * 3, [None] * 3)
            if b is None
            else ([layer.gate(b, n) for n in range(3)], [layer.gate(b, n + 3) for n in range(3)])
        )

        def made(now: Value, states: Sequence[Value]) -> Sequence[Value]:
            (h,) = states
            parts = [_gate_of(layer, now, n) for n in range(3)]
            z, reset = (
                f(_sum(importer, parts[n], importer.contract("bh,gh->bg", h, rows[n]), wb[n], rb[n]))
                for n in range(2)
            )
            if after:
                inner = importer.materialized(
                    _sum(importer, importer.contract("bh,gh->bg", h, rows[2]), rb[2])
                )
                gated = importer.computed(lambda a, c: a * c, reset, inner)
                new = g(_sum(importer, parts[2], gated, wb[2]))
            else:
                gated = importer.computed(lambda a, c: a * c, reset, h)
                new = g(
                    _sum(importer, parts[2], importer.contract("bh,gh->bg", gated, rows[2]), wb[2], rb[2])
                )
            return [importer.elementwise(lambda u, n, old: n - u * n + u * old, z, new, h)]

        return made

    return layer.run(operands, step)


@operator("LSTM")
def import_lstm(importer: NodeImporter, call: NodeCall, *operands: Operand | None) -> Results:
    layer = Layer(importer, call, 2, ["Sigmoid", "Tanh", "Tanh"])
    peepholes = operands[7] if len(operands) > 7 else None

    def step(side: int, r: Value, b: Value | None) -> Step:
        f, g, h = (layer.function(side, n) for n in range(3))
        rows = [layer.gate(r, n) for n in range(4)]
        biases = [[] if b is None else [layer.gate(b, n), layer.gate(b, n + 4)] for n in range(4)]
        peeps = None if peepholes is None else [layer.gate(layer.part(peepholes, side), n) for n in range(3)]

        def made(now: Value, states: Sequence[Value]) -> Sequence[Value]:
            state, before = states

            def gate(n: int, seen: Value | None, peep: int) -> Value:
                peeped = None
                if peeps is not None and seen is not None:
                    peeped = importer.elementwise(lambda p, c: p * c, peeps[peep], seen)
                product = importer.contract("bh,gh->bg", state, rows[n])
                return _sum(importer, _gate_of(layer, now, n), product, peeped, *biases[n])

            enter = f(gate(0, before, 0))
            forget = (
                importer.elementwise(lambda e: 1 - e, enter)
                if call.get("input_forget", 0)
                else f(gate(2, before, 2))
            )
            new = g(gate(3, None, 0))
            kept = importer.computed(lambda k, c, i, n: k * c + i * n, forget, before, enter, new)
            leave = f(gate(1, kept, 1))
            return [importer.elementwise(lambda o, c: o * c, leave, h(kept)), kept]

        return made

    return layer.run(operands, step)
