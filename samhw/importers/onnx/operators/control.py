"""Branches that are known, and loops: unrolled, or as scans."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import onnx

from samhw.importers.core import UnsupportedError, Value
from samhw.importers.onnx.importer import NodeImporter
from samhw.importers.onnx.model import Entry, GraphNames
from samhw.importers.onnx.operators.views import picked, stacked
from samhw.importers.onnx.values import Held, NodeCall, Operand, Typed, kind_of

__all__ = ["CONTROL"]


class Bodies(Protocol):
    """Goes through bodies."""

    importer: NodeImporter
    unroll: int
    has_scans: bool

    def graph(self, graph: onnx.GraphProto, scope: GraphNames, given: Sequence[Entry]) -> list[Entry]: ...


MOST_UNROLLED = 1024
"""Steps of a loop that is unrolled."""


def import_if(walk: Bodies, call: NodeCall, operands: Sequence[Any], scope: GraphNames) -> Sequence[Entry]:
    chosen = bool(walk.importer.decided(operands[0], "a condition").reshape(-1)[0])
    return walk.graph(call.get("then_branch" if chosen else "else_branch"), scope, [])


def import_loop(walk: Bodies, call: NodeCall, operands: Sequence[Any], scope: GraphNames) -> Sequence[Entry]:
    importer, body = walk.importer, call.get("body")
    most = (
        None
        if operands[0] is None
        else int(importer.decided(operands[0], "a number of steps").reshape(-1)[0])
    )
    goes_on = operands[1] is None or bool(importer.decided(operands[1], "a condition").reshape(-1)[0])
    states: list[Any] = list(operands[2:])
    if not goes_on or most == 0:
        raise UnsupportedError("has no steps", "leave it out")
    if most is not None and most > walk.unroll and _goes_on(body, scope) and not _is_held(states):
        return _scanned_loop(walk, body, states, most, scope)
    rows: list[list[Any]] = []
    for n in range(MOST_UNROLLED if most is None else most):
        if n >= MOST_UNROLLED:
            raise UnsupportedError(f"has more than {MOST_UNROLLED} steps", "use Scan")
        number, condition = Held(np.asarray(n, np.int64), "step"), Held(np.asarray(True), "condition")
        found = walk.graph(body, scope, [number, condition, *states])
        states = found[1 : 1 + len(states)]
        rows.append(found[1 + len(states) :])
        if not bool(importer.decided(found[0], "a condition").reshape(-1)[0]):  # type: ignore[arg-type]
            break
    else:
        if most is None:
            raise UnsupportedError(f"has more than {MOST_UNROLLED} steps", "give their number")
    return [*states, *(_stacked(walk, row) for row in zip(*rows, strict=True))]


def _is_held(states: Sequence[Any]) -> bool:
    """Whether the host knows all states, which are then none of hardware's."""
    return bool(states) and all(isinstance(state, Held) and state.fetch is None for state in states)


def _goes_on(body: onnx.GraphProto, scope: GraphNames) -> bool:
    """Whether a body's condition is what it is given, or true."""
    name, given = body.output[0].name, body.input[1].name
    made = {output: node for node in body.node for output in node.output}
    while name in made and made[name].op_type == "Identity":
        name = made[name].input[0]
    if name == given:
        return True
    constants = {tensor.name: tensor for tensor in body.initializer}
    if name in constants:
        return bool(onnx.numpy_helper.to_array(constants[name]).reshape(-1)[0])
    if name in made and made[name].op_type == "Constant":
        return bool(onnx.numpy_helper.to_array(made[name].attribute[0].t).reshape(-1)[0])
    return False


def _stacked(walk: Bodies, row: Sequence[Any]) -> Entry:
    """What the steps give, along a first mode."""
    for entry in row:
        if isinstance(entry, UnsupportedError):
            raise entry
    if all(isinstance(entry, Held) and entry.fetch is None for entry in row):
        return Held(np.stack([entry.array for entry in row]), "steps")
    kind = kind_of(row[0])
    made = stacked(walk.importer, [walk.importer.value(entry) for entry in row])
    return Typed(made.modes, made.expr, made.mask, made.condition, kind)


def _scanned_loop(
    walk: Bodies, body: onnx.GraphProto, states: Sequence[Any], steps: int, scope: GraphNames
) -> Sequence[Entry]:
    walk.has_scans = True
    numbers = walk.importer.value(Held(np.arange(steps, dtype=np.int64), "steps"))
    kinds = [kind_of(state) for state in states]

    def run(before: Sequence[Value], now: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value]]:
        condition = Held(np.asarray(True), "condition")
        given = [_typed(x, kind) for x, kind in zip(before, kinds, strict=True)]
        found = walk.graph(body, scope, [_typed(now[0], onnx.TensorProto.INT64), condition, *given])
        after = [walk.importer.materialized(x) for x in found[1:]]  # type: ignore[arg-type]
        return after[: len(states)], after[len(states) :]

    last, every, _ = walk.importer.scans.scan(
        run, [walk.importer.value(state) for state in states], [numbers], steps
    )
    return [*(_typed(x, kind) for x, kind in zip(last, kinds, strict=True)), *every]


def _typed(x: Value, kind: int) -> Typed:
    return Typed(x.modes, x.expr, x.mask, x.condition, kind)


def import_scan(walk: Bodies, call: NodeCall, operands: Sequence[Any], scope: GraphNames) -> Sequence[Entry]:
    importer, body, count = walk.importer, call.get("body"), call.get("num_scan_inputs")
    states, inputs = list(operands[:-count]), list(operands[-count:])
    outputs = len(body.output) - len(states)
    backwards = call.get("scan_input_directions", [0] * count)
    out_backwards = call.get("scan_output_directions", [0] * outputs)
    axes, out_axes = call.get("scan_input_axes", [0] * count), call.get("scan_output_axes", [0] * outputs)
    kinds = [kind_of(x) for x in (*states, *inputs)]
    held = []
    for x, axis, back in zip(inputs, axes, backwards, strict=True):
        value = _first(importer.value(x), axis)
        size = importer.build.shape(value)[0]
        held.append(
            picked(importer, importer.materialized(value), 0, list(range(size))[::-1]) if back else value
        )
    steps = importer.build.shape(held[0])[0]

    def run(before: Sequence[Value], now: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value]]:
        given = [_typed(x, kind) for x, kind in zip([*before, *now], kinds, strict=True)]
        found = walk.graph(body, scope, given)
        after = [importer.materialized(x) for x in found]  # type: ignore[arg-type]
        return after[: len(states)], after[len(states) :]

    last, every, _ = importer.scans.scan(
        run, [importer.value(x) for x in states], [importer.materialized(x) for x in held], steps
    )
    made = []
    for x, axis, back in zip(every, out_axes, out_backwards, strict=True):
        value = picked(importer, importer.materialized(x), 0, list(range(steps))[::-1]) if back else x
        place = axis % len(value.modes)
        modes = [*value.modes[1:]]
        modes.insert(place, value.modes[0])
        made.append(replace(value, modes=tuple(modes)))
    names = [output.type.tensor_type.elem_type or onnx.TensorProto.FLOAT for output in body.output]
    return [_typed(x, kind) for x, kind in zip([*last, *made], names, strict=True)]


def _first(x: Value, axis: int) -> Value:
    """With a mode before all others."""
    axis %= len(x.modes)
    return replace(x, modes=(x.modes[axis], *x.modes[:axis], *x.modes[axis + 1 :]))


CONTROL: dict[str, Callable[[Bodies, NodeCall, Sequence[Operand | None], GraphNames], Sequence[Entry]]] = {
    "If": import_if,
    "Loop": import_loop,
    "Scan": import_scan,
}
"""Operators with bodies, which see the names of the graph that they stand in."""
