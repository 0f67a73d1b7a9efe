"""What lanes bring (FuseFlow section 8.6, figure 16): speed-ups by lanes, and the greatest there could be.

`even` is W / w: the firings of all copies of the busiest node, over those of its busiest copy; so fast it
would be if nothing else took time. `of it` is the part of that which the run has reached. `alone` is the most
firings of a node that is in no lane, such as what makes the rows: fewer cycles there cannot be. Every
result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.lanes [--data FOLDER] [--sequence N] [--only NAME]
[--plot FILE.svg] [--json FILE|-]

`--data`, or `SAMHW_DATA`, names the folder with lp_scsd1.mtx (SuiteSparse) and cora.npz (Planetoid); without
it there are only the kernels on a generated graph, and attention.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import VALUE, bind, follow, parser, report
from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.choice import choice
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.errors import RunError
from samhw.lang import load_kernel, load_model, model_data
from samhw.sim import lane_loads
from samhw.targets.backends import run
from samhw.tensors import Tensor, read_dataset, read_tensor
from samhw.tensors.generate import bigbird_mask, power_law_graph

FEATURES = 64
ONE = tuple(f"i={n}" for n in (2, 3, 4, 8, 16, 32, 64))
TWO = {"spmm": "k", "sddmm": "j", "attention": "j", "gcn": "f"}
"""The second index that gets lanes."""

TICKS = (1, 2, 4, 8, 16, 32, 64)

Case = tuple[str, Workload, FusionLevel]


def cases(data: Path | None, sequence: int) -> Iterator[Case]:
    """Program, data, and level of fusion, by name."""
    graphs = {"generated": power_law_graph(300, 0.02, seed=0)}
    if data:
        graphs = {"lp_scsd1": read_tensor(data / "lp_scsd1.mtx")}
        cora = read_dataset(data / "cora.npz")
        graphs["Cora"] = cora["adjacency"]
    for name, matrix in graphs.items():
        yield f"spmm, {name}", spmm(matrix), "partial"
        yield f"sddmm, {name}", sddmm(matrix), "partial"
    yield f"attention, {sequence}", attention(sequence), "full"
    if data:
        yield "gcn, Cora", gcn(cora["adjacency"], cora["features"]), "partial"


def dense(*shape: int) -> Tensor:
    """Small whole numbers."""
    return Tensor.from_dense(np.random.default_rng(1).integers(1, 5, shape).astype(float), "dense")


def spmm(matrix: Tensor) -> Workload:
    """A matrix times dense features."""
    return bind(load_kernel("spmm"), {"A": matrix, "X": dense(matrix.shape[1], FEATURES)})


def sddmm(matrix: Tensor) -> Workload:
    """A dense product at the nonzeros of a matrix."""
    rows, columns = matrix.shape
    return bind(
        load_kernel("sddmm"), {"B": matrix, "C": dense(rows, FEATURES), "D": dense(FEATURES, columns)}
    )


def gcn(graph: Tensor, features: Tensor) -> Workload:
    """The usual two layers: a hidden width of 16, and 7 classes."""
    tensors = model_data("gcn", graph=graph, features=features, sizes={"h": 16, "c": 7})
    return bind(load_model("gcn"), tensors)


def attention(sequence: int) -> Workload:
    """One head under BigBird's mask: that of `--data synthetic:imdb`, or one in 16 blocks."""
    if sequence == 1024:
        return bind_program("bigbird_attention", ["synthetic:imdb"])
    tensors = model_data("bigbird_attention", sizes={"i": sequence})
    tensors["M"] = bigbird_mask(sequence, max(sequence // 16, 1), seed=0)
    return bind(load_model("bigbird_attention"), tensors)


def rows(chosen: Sequence[Case], several: Sequence[str], nested: Sequence[int]) -> Iterator[dict[str, Any]]:
    """A row for each case and each choice of lanes, the first with one lane."""
    for name, workload, level in chosen:
        second = TWO[name.partition(",")[0]]
        choices = ["1", *several, *(f"i={n}+{second}={n}" for n in nested)]
        one = 0
        for lanes in choices:
            row = measured(
                name, workload, Schedule(fuse=level, lanes=choice("lanes").parse(lanes)), lanes, one
            )
            one = one or row["cycles"]
            yield row


def measured(name: str, workload: Workload, schedule: Schedule, lanes: str, one: int) -> dict[str, Any]:
    """One run. `one` are the cycles with one lane, 0 if this is it."""
    compiled = compile_workload(workload, schedule, value=VALUE)
    found = run(compiled, workload.tensors)
    if not check(workload, compiled, found.outputs).good:
        raise RunError(f"The result of {name} with lanes {lanes} is wrong; please report this as a bug.")
    work = busiest = alone = 0
    for region in found.regions:
        assert region.statistics is not None
        nodes = region.statistics.nodes
        single = max(nodes[node.name].firings for node in region.graph.nodes if not node.copy_of)
        loads = lane_loads(region.graph, nodes)
        work += sum(loads.firings) if loads else single
        busiest += max(loads.firings) if loads else single
        alone += single if loads else 0
    speed_up = (one or found.cycles) / found.cycles
    return {
        "program": name,
        "lanes": lanes,
        "nodes": len(compiled.design.nodes),
        "cycles": found.cycles,
        "speed-up": speed_up,
        "even": work / busiest,
        "of it": speed_up * busiest / work,
        "alone": alone,
    }


def plot(found: Sequence[dict[str, Any]], path: Path) -> None:
    """Speed-ups over lanes, a line for each program, nested lanes as points of their product."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4.5))
    for name in dict.fromkeys(row["program"] for row in found):
        counts = [
            (np.prod(list(choice("lanes").parse(r["lanes"]).values())), r)
            for r in found
            if r["program"] == name
        ]
        line = sorted((count, row["speed-up"]) for count, row in counts if "+" not in row["lanes"])
        (drawn,) = axes.plot(*zip(*line, strict=True), marker="o", markersize=4, label=name)
        points = [(count, row["speed-up"]) for count, row in counts if "+" in row["lanes"]]
        if points:
            axes.plot(*zip(*points, strict=True), "^", color=drawn.get_color())
    axes.plot([1, 64], [1, 64], ":", color="grey")
    axes.set(xscale="log", yscale="log", xlabel="lanes (triangles: on two indices)", ylabel="speed-up")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(TICKS, map(str, TICKS))
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    folder = os.environ.get("SAMHW_DATA")
    options.add_argument("--data", type=Path, default=folder, help="folder of the data")
    options.add_argument("--sequence", type=int, default=1024, help="of the attention")
    options.add_argument("--only", default="", help="the programs whose name begins so")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw speed-ups over lanes")
    given = options.parse_args(arguments)
    chosen = [case for case in cases(given.data, given.sequence) if case[0].startswith(given.only)]
    found = list(follow(rows(chosen, ONE, (2, 4, 8))))
    report("speed-ups by lanes", found, given.json)
    if given.plot:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
