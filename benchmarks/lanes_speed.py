"""How fast the simulator's compiled engine is on wide graphs: firings a second with lanes, over those of the
same program with one lane.

Processor times, the least of some runs that take turns, when functions have been compiled. `of one lane` is
of whole runs, with what Python does for each actor once in a run. On a graph as small as Cora that is a good
part of them; with `--nodes`, the same kernels and the GCN run on a graph of this many nodes, as sparse as
Cora.

Usage, from the repository's root: python -m benchmarks.lanes_speed [--data FOLDER] [--nodes N] [--only NAME]
[--lanes i=8,i=64] [--runs N] [--json FILE|-]
"""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import VALUE, follow, parser, report
from benchmarks.simulator import firings, timed_run
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.choice import choice
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.targets.running.images import load_inputs

FEATURES = 64

DEGREE = 4
"""Edges of a node of Cora, about."""

Case = tuple[str, Workload, FusionLevel]


def cases(folder: Path | None) -> Iterator[Case]:
    """Program, data, and level of fusion, by name."""
    if folder is None:
        yield from larger(300)
    else:
        for name in ("lp_scsd1.mtx", "cora.npz"):
            yield f"spmm, {name}", bound("spmm", f"A={folder / name}", f"random:j={FEATURES}"), "partial"
            yield f"sddmm, {name}", bound("sddmm", f"B={folder / name}", f"random:k={FEATURES}"), "partial"
        yield "gcn, Cora", bound("gcn", str(folder / "cora.npz"), "random:h=16,c=7"), "partial"
    yield "attention", bound("bigbird_attention", "synthetic:imdb"), "full"


def larger(nodes: int) -> Iterator[Case]:
    """Programs on a generated graph of this many nodes."""
    graph = f"synthetic:power-law,nodes={nodes},density={DEGREE / nodes}"
    yield f"spmm, {nodes:,} nodes", bound("spmm", graph, f"random:j={FEATURES}"), "partial"
    yield f"sddmm, {nodes:,} nodes", bound("sddmm", graph, f"random:k={FEATURES}"), "partial"
    words = f"synthetic:cora,nodes={nodes},edges={DEGREE * nodes}"
    yield f"gcn, {nodes:,} nodes", bound("gcn", words, "random:h=16,c=7"), "partial"


def bound(program: str, *data: str) -> Workload:
    """A program on data."""
    return bind_program(program, data, value=VALUE)


def rows(chosen: Sequence[Case], several: Sequence[str], runs: int) -> Iterator[dict[str, Any]]:
    """A row for each case and each choice of lanes, the first with one lane."""
    for name, workload, level in chosen:
        made = {}
        for lanes in ("1", *several):
            compiled = compile_workload(
                workload, Schedule(fuse=level, lanes=choice("lanes").taken(lanes)), value=VALUE
            )
            words = load_inputs(compiled.program, compiled.design, workload.tensors, compiled.recipes)
            made[lanes] = partial(timed_run, compiled, *words, "compiled")
        times: dict[str, list[float]] = {lanes: [] for lanes in made}
        found = {lanes: run()[0] for lanes, run in made.items()}
        for _ in range(runs):
            for lanes, run in made.items():
                times[lanes].append(run()[1])
        one = firings(found["1"]) / min(times["1"])
        for lanes, results in found.items():
            speed = firings(results) / min(times[lanes])
            yield {
                "program": name,
                "lanes": lanes,
                "actors": sum(len(node.actors) for result in results for node in result.nodes.values()),
                "firings": firings(results),
                "seconds": min(times[lanes]),
                "M firings/s": speed / 1e6,
                "of one lane": speed / one,
            }


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    folder = os.environ.get("SAMHW_DATA")
    options.add_argument("--data", type=Path, default=folder, help="folder of the data")
    options.add_argument("--nodes", type=int, default=0, help="of a generated graph (none)")
    options.add_argument("--only", default="", help="the programs whose name begins so")
    options.add_argument("--lanes", default="i=8,i=64", help="in one word each")
    options.add_argument("--runs", type=int, default=5, help="of which the fastest counts (5)")
    given = options.parse_args(arguments)
    named = [*cases(given.data), *(larger(given.nodes) if given.nodes else ())]
    chosen = [case for case in named if case[0].startswith(given.only)]
    if not chosen:
        options.error(f"there is no program {given.only!r}")
    found = list(follow(rows(chosen, given.lanes.split(","), given.runs)))
    report("the simulator with lanes", found, given.json)


if __name__ == "__main__":
    main()
