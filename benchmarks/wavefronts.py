"""What the wavefronts of nested recurrences gain in cycles, as figure 8 of the FractalTensor paper compares
its workloads: a copy of the cell for each cell of the widest diagonal, against one cell after another.

For each workload the cells and the rounds; the cycles of the scan with copies, of the whole run, and of all
cells one after another; what the copies gain, and its share of cells / rounds. With `--batched`, for one copy
and a batch of 16, the share of the cycles in which the busiest node fires. One cell after another is a chain
of cells (a layer of a stack, the layers above one pair of a grid), which is run, times the number of chains.
A scan is one region.

Usage, from the repository's root: python -m benchmarks.wavefronts [stacked_lstm dilated_rnn grid_rnn]
[--scale whole|middle|small] [--batched] [--json FILE|-]
"""

import runpy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import samhw
from benchmarks.common import follow, parser, report
from samhw.graph import Repeat, Run
from samhw.lang import nested
from samhw.lang.nested import ListType, Stack

EXAMPLES = Path(__file__).parents[1] / "examples" / "nested"
Function = Callable[..., Any]


def example(name: str) -> dict[str, Any]:
    """What a file of the folder defines."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def lstm_weights(hidden: int, layers: int) -> list[ListType]:
    """The types of the weights of `stacked_lstm` and `dilated_rnn`."""
    matrices = ListType((layers, 4), (hidden, hidden))
    return [matrices, matrices, ListType((layers, 4), (hidden,))]


def stacked_lstm(hidden: int, layers: int, steps: int) -> tuple[Function, list[ListType]]:
    """One sequence; it has a batch of its own."""
    function: Function = example("stacked_lstm")["stacked_lstm"]
    return function, [ListType((1, steps), (hidden,)), *lstm_weights(hidden, layers)]


def dilated_rnn(hidden: int, layers: int, steps: int) -> tuple[Function, list[ListType]]:
    """One sequence."""
    function: Function = example("dilated_rnn")["dilated_rnn"]
    return function, [ListType((steps,), (hidden,)), *lstm_weights(hidden, layers)]


def grid_rnn(hidden: int, layers: int, side: int) -> tuple[Function, list[ListType]]:
    """One pair of sequences."""
    found = example("grid_rnn")
    return found["grid_rnn"], found["types"](layers, side, side, hidden)


def batched(name: str, hidden: int) -> tuple[Function, list[ListType]]:
    """A chain of four cells for a batch of 16."""
    if name == "stacked_lstm":
        function, (xs, *weights) = stacked_lstm(hidden, 1, 4)
        return function, [ListType((16, 4), xs.shape), *weights]
    if name == "dilated_rnn":
        one, (xs, *weights) = dilated_rnn(hidden, 1, 4)
        return lambda xss, w, u, b: xss.map(lambda xs: one(xs, w, u, b)), [
            ListType((16, 4), xs.shape),
            *weights,
        ]
    pair, (src, trg, *weights) = grid_rnn(hidden, 4, 1)
    lists = [ListType((16, 1), kind.shape) for kind in (src, trg)]

    def pairs(ss: Any, ts: Any, wx: Any, ux: Any, bx: Any, wy: Any, uy: Any, by: Any) -> Any:
        return nested.zip(ss, ts).map(lambda s, t: pair(s, t, wx, ux, bx, wy, uy, by))

    return pairs, [*lists, *weights]


@dataclass(frozen=True)
class Scanned:
    """A run: the rounds of its scan, the cycles of that and of all, and how often its busiest node fires."""

    rounds: int
    cycles: int
    total: int
    firings: int


def scanned(function: Function, types: Sequence[ListType]) -> Scanned:
    """A run of a function with a copy for each cell of a diagonal."""
    traced = nested.trace(function, *types)
    copies = nested.side_by_side(traced)
    (stack,) = [item for item in nested.stacks(copies, copies.body) if isinstance(item, Stack)]
    found = nested.lowered(traced, copies=True)
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=(*kind.extents, *kind.shape)) for kind in types]
    result = samhw.compile(found.program, value="f32", fuse="full").run(found.inputs(*arguments))
    assert result.check().verdict == "right"
    (repeat,) = [step for step in result.compiled.design.sequence if isinstance(step, Repeat)]
    (scan,) = [result.run.regions[step.region] for step in repeat.body if isinstance(step, Run)]
    assert scan.statistics is not None
    busiest = max(node.firings for node in scan.statistics.nodes.values())
    return Scanned(stack.rounds, scan.cycles, result.cycles, busiest)


NAMES = ("stacked_lstm", "dilated_rnn", "grid_rnn")

SCALES = {"whole": (64, 50, 32, 6, 10), "middle": (16, 16, 8, 4, 5), "small": (4, 4, 2, 2, 2)}
"""Steps of the LSTM and of the dilated RNN, layers of the LSTM and the grid and of the dilated RNN, and the
side of the grid."""


def rows(names: Sequence[str], scale: str) -> Iterator[dict[str, Any]]:
    """A row for each workload: side by side against one after another."""
    steps, dilated_steps, tall, dilated, side = SCALES[scale]
    shapes: dict[str, tuple[Callable[[int, int, int], tuple[Function, list[ListType]]], int, int, int]] = {
        "stacked_lstm": (stacked_lstm, tall, steps, tall),
        "dilated_rnn": (dilated_rnn, dilated, dilated_steps, dilated),
        "grid_rnn": (grid_rnn, tall, side, side * side),
    }
    for name in names:
        make, layers, length, chains = shapes[name]
        alone = scanned(*(make(4, layers, 1) if name == "grid_rnn" else make(4, 1, length)))
        side_by_side = scanned(*make(4, layers, length))
        cells, one_by_one = chains * alone.rounds, chains * alone.cycles
        gain = one_by_one / side_by_side.cycles
        yield {
            "workload": name,
            "length": f"{side} by {side}" if name == "grid_rnn" else str(length),
            "layers": layers,
            "cells": cells,
            "rounds": side_by_side.rounds,
            "cycles": side_by_side.cycles,
            "whole run": side_by_side.total,
            "one by one": one_by_one,
            "times fewer": round(gain, 2),
            "of cells / rounds": round(gain / (cells / side_by_side.rounds), 2),
        }


def batched_rows(names: Sequence[str], scale: str) -> Iterator[dict[str, Any]]:
    """A row for each workload and width, with one copy and a batch of 16."""
    for name in names:
        for hidden in (4, 16) if scale == "whole" else (2,):
            found = scanned(*batched(name, hidden))
            yield {
                "workload": name,
                "numbers": hidden,
                "cycles": found.cycles,
                "busiest node": round(found.firings / found.cycles, 2),
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("workloads", nargs="*", help=", ".join(NAMES))
    options.add_argument("--scale", choices=tuple(SCALES), default="whole")
    options.add_argument("--batched", action="store_true", help="one copy and a batch of 16")
    given = options.parse_args()
    names, make = given.workloads or NAMES, batched_rows if given.batched else rows
    report(
        "one copy, batch 16" if given.batched else "wavefronts",
        list(follow(make(names, given.scale))),
        given.json,
    )


if __name__ == "__main__":
    main()
