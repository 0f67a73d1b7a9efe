"""The speed-up of a fused two-layer GCN over the unfused one, by the sparsity and the pattern of the graph
(FuseFlow figure 15).

Full fusion recomputes the first layer for each edge of the second, so that its cost grows with the square
of the number of edges; below `--full-from` it is left out. "Across" is the schedule of
benchmarks/programs/gcn_by_columns.ein, which fuses across the layers and computes nothing twice. Every result
is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.sparsity_sweep [--nodes N] [--features F]
[--sparsity S ...] [--full-from S] [--json FILE|-]
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchmarks.common import bind, follow, measure, parser, report, schedules
from samhw.app.workload import Workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.lang import load_model, model_data
from samhw.tensors import Tensor
from samhw.tensors.generate import block_diagonal_graph, power_law_graph, uniform_graph

PATTERNS: dict[str, Callable[..., Tensor]] = {
    "uniform": uniform_graph,
    "power law": power_law_graph,
    "block diagonal": block_diagonal_graph,
}

SPARSITIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def rows(
    nodes: int, features: int, sparsities: Sequence[float], full_from: float
) -> Iterator[dict[str, Any]]:
    """A row for each pattern and sparsity."""
    for pattern, graph in PATTERNS.items():
        for sparsity in sparsities:
            data = model_data("gcn", graph=graph(nodes, 1 - sparsity, seed=0), sizes={"f": features})
            cycles = {
                name: found.cycles
                for name, workload, level in runs(data, full=sparsity >= full_from)
                if (
                    found := measure(
                        workload, Schedule(fuse=level, share="none" if level == "full" else "auto")
                    )
                )
            }
            unfused = cycles["unfused"]
            fused = {name: cycles.get(name) for name in ("partial", "across", "full")}
            yield {
                "pattern": pattern,
                "sparsity": sparsity,
                "edges": data["A"].nnz,
                "unfused, cycles": unfused,
                **{f"{name}, cycles": count for name, count in fused.items()},
                **{f"{name}, speed-up": count and unfused / count for name, count in fused.items()},
            }


def runs(data: Mapping[str, Tensor], *, full: bool) -> Iterator[tuple[str, Workload, FusionLevel]]:
    """The schedules, by name."""
    gcn = bind(load_model("gcn"), data)
    (across,) = schedules("gcn", data)
    yield "unfused", gcn, "none"
    yield "partial", gcn, "partial"
    yield "across", across, "partial"
    if full:
        yield "full", gcn, "full"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=500)
    options.add_argument("--features", type=int, default=16)
    options.add_argument("--sparsity", type=float, nargs="+", default=SPARSITIES)
    options.add_argument("--full-from", type=float, default=0.9, metavar="S")
    arguments = options.parse_args()
    points = rows(arguments.nodes, arguments.features, arguments.sparsity, arguments.full_from)
    found = list(follow(points, len(PATTERNS) * len(arguments.sparsity)))
    report(f"GCN, {arguments.nodes} nodes, {arguments.features} features", found, arguments.json)


if __name__ == "__main__":
    main()
