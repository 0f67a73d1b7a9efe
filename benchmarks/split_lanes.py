"""What splits bring to SpMM with many lanes: the best split against the best schedule without one.

Without a split, rows are dealt to the lanes in turn, or to fewer lanes whose entries are dealt to further
ones. `hyb(1,k)` and `even(n)` have their rows in one part each, and every part has lanes of its own, as many
in all. `cells` are the entries of the busiest lane, `even` those that each lane would have if all had the
same, and `had` is how much of the cycles that evenness could save was saved. Every result is checked against
NumPy.

Usage, from the repository's root: python -m benchmarks.split_lanes [--data FOLDER] [--only NAME]
[--lanes 16,64] [--columns 32,64,128] [--json FILE|-]

`--data`, or `SAMHW_DATA`, names the folder with cora.npz (Planetoid); without it there are stand-ins alone.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import VALUE, bind, follow, parser, report
from samhw.backends import run
from samhw.checking import check
from samhw.errors import RunError
from samhw.frontend import load_kernel
from samhw.schedule import Schedule, lanes_text
from samhw.tensors import Tensor, read_dataset
from samhw.tensors.generate import power_law_graph
from samhw.tensors.stand_ins import stand_in
from samhw.workload import Workload, compile_workload

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
    """The fewest cycles with a split and without one."""
    plain = {lanes_text(s.lanes): cycles(workload, s) for s in unsplit(lanes)}
    split = {s.split["A"]: cycles(workload, s) for s in splits(workload, lanes)}
    whole, best = min(plain, key=plain.__getitem__), min(split, key=split.__getitem__)
    matrix = workload.tensors["A"]
    dealt = plain[f"i={lanes}"]
    share = dealt * matrix.nnz / lanes / busiest([matrix], [lanes])
    buckets, *parts = split
    return {
        "lanes": lanes,
        "dealt": dealt,
        "unsplit": whole,
        "cycles": plain[whole],
        "buckets": buckets,
        "of buckets": split[buckets],
        "of even": split[parts[0]] if parts else None,
        "faster": plain[whole] / split[best],
        "cells": split_cells(workload, lanes, best),
        "even": round(matrix.nnz / lanes),
        "had": (dealt - split[best]) / (dealt - share),
    }


def unsplit(lanes: int) -> Iterator[Schedule]:
    """Rows dealt to all lanes, or their entries to some of them."""
    for inner in (1, 2, 4):
        further = {} if inner == 1 else {"k": inner}
        yield Schedule(lanes={"i": lanes // inner, **further})


def splits(workload: Workload, lanes: int) -> Iterator[Schedule]:
    """The buckets whose busiest lane has the fewest entries, of those from the mean length of a row up to the
    longest; and as many even parts as lanes."""
    lengths = np.diff(workload.tensors["A"].convert("csr").arrays()["pos1"])
    least = int(np.ceil(np.log2(max(1.0, lengths.mean()))))
    buckets = [f"hyb(1,{log})" for log in range(least, int(np.log2(lengths.max())) + 1)]
    rules = [min(buckets, key=lambda rule: split_cells(workload, lanes, rule))]
    for rule in (*rules, *([f"even({lanes})"] if lanes <= MOST_EVEN else ())):
        yield Schedule(split={"A": rule}, lanes={"i": lanes})


def cycles(workload: Workload, schedule: Schedule) -> int:
    """Of a run whose result is right."""
    compiled = compile_workload(workload, schedule, value=VALUE)
    found = run(compiled, workload.tensors)
    if not check(workload, compiled, found.outputs).good:
        raise RunError(f"The result of {workload.name} ({schedule}) is wrong; please report this as a bug.")
    return found.cycles


def split_cells(workload: Workload, lanes: int, rule: str) -> int:
    """The entries of the busiest lane under a split."""
    schedule = workload.with_lanes_by_part(Schedule(split={"A": rule}, lanes={"i": lanes}))
    return busiest(list(workload.parts(schedule).values()), list(schedule.lanes.values()))


def busiest(parts: Sequence[Tensor], lanes: Sequence[int]) -> int:
    """The entries of the busiest lane, where the rows of each part are dealt to lanes of its own."""
    most = 0
    for part, count in zip(parts, lanes, strict=True):
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
    report("the best split of SpMM against the best schedule without one", found, given.json)


if __name__ == "__main__":
    main()
