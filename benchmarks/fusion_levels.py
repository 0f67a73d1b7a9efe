"""What fusion does to each model: cycles, firings, operations and bytes, and their ratios to those without
fusion (FuseFlow figures 12 and 14).

All models on their default data, the GCN also on a scale-free graph. The levels are those of `--fuse`, where
full fusion ends regions after what it would compute again and again; "one region" does not end them, and
"by .." are the programs of benchmarks/programs, which fuse more than "partial" does and compute hardly
anything twice. A level that is impossible has no row. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.fusion_levels [MODEL ...] [--nodes N] [--density D]
[--json FILE|-]
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.common import bind, follow, graph_options, measure, one_region, parser, report, schedules
from samhw.app.checking import Measure
from samhw.app.workload import Workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.lang import load_model, model_data, model_names
from samhw.tensors import Tensor
from samhw.tensors.generate import power_law_graph


def workloads(model: str, nodes: int, density: float) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """The model's default data; for the GCN also a graph of this many nodes (0: none)."""
    yield model, model_data(model)
    if model == "gcn" and nodes:
        yield f"gcn, {nodes} nodes", model_data(model, graph=power_law_graph(nodes, density, seed=0))


def runs(model: str, data: Mapping[str, Tensor]) -> Iterator[tuple[str, Workload, Schedule]]:
    """The model at each level and in one region, and its other schedules as they are written."""
    workload = bind(load_model(model), data)
    for level in FUSION_LEVELS:
        yield level, workload, Schedule(fuse=level)
    yield "one region", workload, one_region(model)
    for other in schedules(model, data):
        yield other.name.removeprefix(f"{model}_").replace("_", " "), other, Schedule()


def rows(models: Sequence[str], nodes: int, density: float) -> Iterator[dict[str, Any]]:
    """A row for each model, its data and its schedule."""
    for model in models:
        for label, data in workloads(model, nodes, density):
            unfused: Measure | None = None
            for name, workload, schedule in runs(model, data):
                found = measure(workload, schedule)
                if found is not None:
                    unfused = unfused or found
                    yield {"model": label, "fusion": name, **figures(found, unfused)}


def figures(found: Measure, unfused: Measure) -> dict[str, Any]:
    """The figures of a run; its bytes go between graph and memories, in both directions."""
    moved = found.bytes_read + found.bytes_written
    return {
        "regions": found.regions,
        "cycles": found.cycles,
        "speed-up": unfused.cycles / found.cycles,
        "firings": found.firings,
        "operations": found.operations,
        "operations to unfused": found.operations / unfused.operations,
        "bytes": round(moved),
        "bytes to unfused": moved / (unfused.bytes_read + unfused.bytes_written),
        "operations per byte": found.operations / moved,
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    graph_options(options, "; 0 for none")
    arguments = options.parse_args()
    models = arguments.models or model_names()
    found = list(follow(rows(models, arguments.nodes, arguments.density)))
    report("levels of fusion", found, arguments.json)


if __name__ == "__main__":
    main()
