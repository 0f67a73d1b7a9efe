"""The time to compile each model at each level of fusion, from the program to the graph with sized channels.

The best of several runs, in milliseconds of processor time on one core. FuseFlow states 750 ms as its bound.
A level that is impossible has no row.

Usage, from the repository's root: python -m benchmarks.compile_time [MODEL ..] [--repeats N] [--json FILE|-]
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import VALUE, follow, parser, report
from samhw.errors import ScheduleError
from samhw.frontend import model_names
from samhw.schedule import FUSION_LEVELS, Schedule
from samhw.search import compile_program
from samhw.workload import make_model_workload


def rows(models: Sequence[str], repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each model and level."""
    for model in models:
        workload = make_model_workload(model)
        capacity = workload.capacity()
        for level in FUSION_LEVELS:
            program = Schedule(fuse=level).apply(workload.program)
            best = float("inf")
            try:
                for _ in range(repeats):
                    start = time.process_time()
                    compiled = compile_program(program, value=VALUE, capacity=capacity)
                    best = min(best, time.process_time() - start)
            except ScheduleError:
                continue
            yield {
                "model": model,
                "fusion": level,
                "statements": len(program.statements),
                "regions": len(compiled.regions),
                "nodes": len(compiled.design.nodes),
                "channels": len(compiled.design.channels),
                "ms": best * 1e3,
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    options.add_argument("--repeats", type=int, default=5)
    arguments = options.parse_args()
    models = arguments.models or model_names()
    found = list(follow(rows(models, arguments.repeats), len(models) * len(FUSION_LEVELS)))
    slowest = max(found, key=lambda row: row["ms"])
    title = f"compilation; the slowest is {slowest['model']}, {slowest['fusion']}: {slowest['ms']:.0f} ms"
    report(title, found, arguments.json)


if __name__ == "__main__":
    main()
