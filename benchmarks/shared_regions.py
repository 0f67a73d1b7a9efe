"""What sharing gives fused regions whose intermediates have several uses: cycles fused against unfused.

The programs of benchmarks/programs that are not schedules of models, and all models fully fused. By default
the compiler chooses what is shared, and where a region ends because fused statements would be computed again
and again ("ends"); "one region" recomputes an intermediate for each use (`share = "none"`), where that is
possible. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.shared_regions [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import PROGRAMS, VALUE, bind, follow, measure, parser, report
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.lang import load_model, model_data, model_names


def workloads(models: Sequence[str]) -> Iterator[tuple[str, Workload]]:
    """The programs on random data, and models on their own."""
    for path in sorted(PROGRAMS.glob("*.ein")):
        if "_by_" not in path.stem:
            yield path.stem, bind_program(str(path), [])
    for model in models:
        yield model, bind(load_model(model), model_data(model))


def rows(models: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each program, and for each of those models."""
    for name, workload in workloads(models):
        unfused, fused = (measure(workload, Schedule(fuse=fuse)) for fuse in ("none", "full"))
        alone = measure(workload, Schedule(fuse="full", share="none"))
        assert unfused is not None
        assert fused is not None
        regions = compile_workload(workload, Schedule(fuse="full"), value=VALUE).regions
        yield {
            "program": name,
            "unfused": unfused.cycles,
            "fused": fused.cycles,
            "speed-up": unfused.cycles / fused.cycles,
            "operations to unfused": fused.operations / unfused.operations,
            "regions": fused.regions,
            "ends": ", ".join(region.region.statements[-1].lhs.tensor for region in regions[:-1]) or None,
            "one region": None if alone is None else alone.cycles,
        }


def main() -> None:
    arguments = parser(__doc__).parse_args()
    report("shared and split regions", list(follow(rows(model_names()))), arguments.json)


if __name__ == "__main__":
    main()
