"""What splits and orders of rows bring to SpMM with many lanes: the best of each against the best schedule
with neither.

Without them, rows are dealt to the lanes in turn, or to fewer lanes whose entries are dealt to further ones.
`hyb(1,k)` and `even(n)` have their rows in one part each, and every part has lanes of its own, as many in
all; an order of rows is another deal. Of each kind the schedule that is expected to be the fastest is run,
and every result is checked against NumPy. `cells` are the entries of the busiest lane under the best split,
`even` those that each lane would have if all had the same, and `had` is how much of the cycles that evenness
could save over dealing was saved.

Usage, from the repository's root: python -m benchmarks.split_lanes [--data FOLDER] [--only NAME]
[--lanes 16,64] [--columns 32,64,128] [--json FILE|-]

`--data`, or `SAMHW_DATA`, names the folder with cora.npz (Planetoid); without it there are stand-ins alone.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import VALUE, bind, follow, parser, report
from samhw.app.checking import check
from samhw.app.workload import Workload, compile_workload, job_of
from samhw.choices.schedule import Schedule
from samhw.choices.tables import counts_text
from samhw.compiler import estimate_compiled
from samhw.compiler.passes import apply_program_passes
from samhw.errors import RunError
from samhw.lang import load_kernel
from samhw.targets.backends import run
from samhw.tensors import Tensor, read_dataset
from samhw.tensors.generate import power_law_graph
from samhw.tensors.stand_ins import stand_in

SETS = ("pubmed", "ogbn-arxiv")
"""The stand-ins."""

MOST_EVEN = 64
"""The most parts of `even(n)` that are tried."""


def graphs(data: Path | None, only: str) -> Iterator[tuple[str, Tensor]]:
    """The matrices by name."""
    if data and "Cora".startswith(only):
        yield "Cora", read_dataset(data / "cora.npz")["adjacency"]
    for name in SETS:
        if name.startswith(only):
            yield name, stand_in(name)["adjacency"]


def small() -> Tensor:
    """A graph for tests."""
    return power_law_graph(200, 0.02, seed=0)


def rows(
    matrices: Sequence[tuple[str, Tensor]], lanes: Sequence[int], columns: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """A row for each matrix, number of columns and number of lanes."""
    for name, matrix in matrices:
        for width in columns:
            dense = np.random.default_rng(1).integers(1, 5, (matrix.shape[1], width)).astype(float)
            workload = bind(load_kernel("spmm"), {"A": matrix, "X": Tensor.from_dense(dense, "dense")})
            for count in lanes:
                yield {"matrix": name, "columns": width, **compared(workload, count)}


def compared(workload: Workload, lanes: int) -> dict[str, Any]:
    """The fewest cycles with a split, with another order of rows, and with neither."""
    dealt = Schedule(lanes={"i": lanes})
    row_by_row = cycles(workload, dealt)
    whole, split, order = (
        likely(workload, ways) for ways in (unsplit(lanes), splits(workload, lanes), orders(lanes))
    )
    unsplit_cycles = row_by_row if whole == dealt else cycles(workload, whole)
    split_cycles, order_cycles = cycles(workload, split), cycles(workload, order)
    entries = workload.tensors["A"].nnz
    least = row_by_row * entries / lanes / busiest(workload, dealt)
    return {
        "lanes": lanes,
        "dealt": row_by_row,
        "unsplit": counts_text(whole.lanes),
        "cycles": unsplit_cycles,
        "split": split.split["A"],
        "of split": split_cycles,
        "order": f"{order.permute_rows['A']}, {counts_text(order.lanes)}",
        "of order": order_cycles,
        "faster": unsplit_cycles / split_cycles,
        "cells": busiest(workload, split),
        "even": round(entries / lanes),
        "had": (row_by_row - split_cycles) / (row_by_row - least),
    }


def likely(workload: Workload, schedules: Iterable[Schedule]) -> Schedule:
    """The one that is expected to take the fewest cycles."""

    def expected(schedule: Schedule) -> float:
        compiled = compile_workload(workload, schedule, value=VALUE)
        return estimate_compiled(compiled, workload.statistics(schedule=schedule)).cycles

    return min(schedules, key=expected)


def dealings(lanes: int) -> Iterator[dict[str, int]]:
    """Rows to all lanes, or their entries to some of them."""
    yield {"i": lanes}
    for inner in (2, 4):
        yield {"i": lanes // inner, "k": inner}


def unsplit(lanes: int) -> Iterator[Schedule]:
    """Rows as they are."""
    yield from (Schedule(lanes=dealt) for dealt in dealings(lanes))


def orders(lanes: int) -> Iterator[Schedule]:
    """Rows in another order."""
    for dealt in dealings(lanes):
        for order in ("by length", f"even({dealt['i']})"):
            yield Schedule(lanes=dealt, permute_rows={"A": order})


def splits(workload: Workload, lanes: int) -> Iterator[Schedule]:
    """Buckets from the mean length of a row up to the longest, of which those whose busiest lane has the
    fewest entries; and as many even parts as lanes."""
    lengths = np.diff(workload.tensors["A"].convert("csr").arrays()["pos1"])
    least = int(np.ceil(np.log2(max(1.0, lengths.mean()))))
    rules = [f"hyb(1,{log})" for log in range(least, int(np.log2(lengths.max())) + 1)]
    ways = [Schedule(split={"A": rule}, lanes={"i": lanes}) for rule in rules]
    yield min(ways, key=lambda way: busiest(workload, way))
    if lanes <= MOST_EVEN:
        yield Schedule(split={"A": f"even({lanes})"}, lanes={"i": lanes})


def cycles(workload: Workload, schedule: Schedule) -> int:
    """Of a run whose result is right."""
    compiled = compile_workload(workload, schedule, value=VALUE)
    found = run(compiled, workload.tensors)
    if not check(workload, compiled, found.outputs).good:
        raise RunError(f"The result of {workload.name} ({schedule}) is wrong; please report this as a bug.")
    return found.cycles


def busiest(workload: Workload, schedule: Schedule) -> int:
    """The entries of the busiest lane, where rows, or those of each part, are dealt to lanes in turn."""
    lanes = apply_program_passes(job_of(workload, schedule).lowerable(), "split_formats").schedule.lanes
    parts = workload.parts(schedule).values() or [workload.stored(schedule)["A"]]
    most = 0
    for part, count in zip(parts, lanes.values(), strict=True):
        coords, _ = part.to_coo()
        _, row = np.unique(coords[0], return_inverse=True) if len(parts) > 1 else (None, coords[0])
        most = max(most, int(np.bincount(row % count).max(initial=0)))
    return most


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--data", type=Path, default=os.environ.get("SAMHW_DATA"), help="folder of the data")
    options.add_argument("--only", default="", help="the matrices whose name begins so")
    options.add_argument("--lanes", default="16,64", help="how many, with commas")
    options.add_argument("--columns", default="32,64,128", help="of X, with commas")
    given = options.parse_args(arguments)
    lanes, columns = ([int(n) for n in text.split(",")] for text in (given.lanes, given.columns))
    matrices = list(graphs(given.data, given.only))
    found = list(follow(rows(matrices, lanes, columns), len(matrices) * len(lanes) * len(columns)))
    report(
        "the best split of SpMM, and the best order of rows, against the best schedule with neither",
        found,
        given.json,
    )


if __name__ == "__main__":
    main()
