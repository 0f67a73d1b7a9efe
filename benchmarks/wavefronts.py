"""What the wavefronts of nested recurrences gain in cycles, as figure 8 of the FractalTensor paper compares
its workloads: a copy of the cell for each cell of the widest diagonal, against one cell after another.

    python -m benchmarks.wavefronts [stacked_lstm dilated_rnn grid_rnn] [--scale whole|middle|small]

Prints for each workload the cells and the rounds; the cycles of the scan with copies, of the whole run, and
of all cells one after another; what the copies gain, and its share of cells / rounds. Then, for one copy and
a batch of 16, the share of the cycles in which the busiest node fires. One cell after another is a chain of
cells (a layer of a stack, the layers above one pair of a grid), which is run, times the number of chains. A
scan is one region.
"""

import argparse
import runpy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import samhw
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


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = ["stacked_lstm", "dilated_rnn", "grid_rnn"]
    parser.add_argument("workloads", nargs="*", help=", ".join(names))
    parser.add_argument("--scale", choices=("whole", "middle", "small"), default="whole")
    options = parser.parse_args()
    scales = {"whole": (64, 32, 6, 10), "middle": (16, 8, 4, 5), "small": (4, 2, 2, 2)}
    steps, tall, dilated, side = scales[options.scale]
    shapes: dict[str, tuple[Callable[[int, int, int], tuple[Function, list[ListType]]], int, int, int]] = {
        "stacked_lstm": (stacked_lstm, tall, steps, tall),
        "dilated_rnn": (dilated_rnn, dilated, 50 if options.scale == "whole" else steps, dilated),
        "grid_rnn": (grid_rnn, tall, side, side * side),
    }
    print("workload       cells  rounds  cycles  whole run  one by one   gain  of cells / rounds")
    for name in options.workloads or names:
        make, layers, length, chains = shapes[name]
        alone = scanned(*(make(4, layers, 1) if name == "grid_rnn" else make(4, 1, length)))
        side_by_side = scanned(*make(4, layers, length))
        cells, one_by_one = chains * alone.rounds, chains * alone.cycles
        gain = one_by_one / side_by_side.cycles
        share = gain / (cells / side_by_side.rounds)
        print(
            f"{name:13}  {cells:5,}  {side_by_side.rounds:6}  {side_by_side.cycles:6,}  "
            f"{side_by_side.total:9,}  {one_by_one:10,}  {gain:5.2f}  {share:17.2f}",
            flush=True,
        )
    print("\none copy, batch 16  hidden  cycles  busiest node")
    for name in options.workloads or names:
        for hidden in (4, 16) if options.scale == "whole" else (2,):
            found = scanned(*batched(name, hidden))
            share = found.firings / found.cycles
            print(f"{name:18}  {hidden:6}  {found.cycles:6,}  {share:12.0%}", flush=True)


if __name__ == "__main__":
    main()
