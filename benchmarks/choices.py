"""What `--schedule auto` chooses, against the levels of fusion: cycles, and how long the choice takes.

All models on their default data, or those that are named, or a graph's data on GCN, GIN and GraphSAGE. Every
result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.choices [MODEL ..] [--data DATA ..] [--json FILE|-]
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import VALUE, follow, measure, parser, report
from samhw.frontend import model_names
from samhw.schedule import FUSION_LEVELS, Schedule
from samhw.search import choose_schedule
from samhw.workload import bind_program, request_for

GRAPHS = ("gcn", "gin", "graphsage")
"""The models that data of a graph are tried on, where none are named."""


def rows(models: Sequence[str], data: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each model: the cycles at each level of fusion and under the chosen schedule."""
    for model in models:
        workload = bind_program(model, data)
        start = time.process_time()
        chosen = choose_schedule(request_for(workload, Schedule(fuse="auto"), value=VALUE))
        seconds = time.process_time() - start
        levels = {level: measure(workload, Schedule(level)) for level in FUSION_LEVELS}
        cycles: dict[str, int | None] = {
            level: None if found is None else found.cycles for level, found in levels.items()
        }
        found = measure(workload, chosen.compiled.schedule)
        assert found is not None
        best = min(count for count in cycles.values() if count is not None)
        yield {
            "model": model,
            **cycles,
            "auto": found.cycles,
            "expected": round(chosen.cycles),
            "to the best": found.cycles / best,
            "speed-up": (cycles["none"] or best) / found.cycles,
            "ms": round(1000 * seconds),
        }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="by default all, or those of graphs")
    options.add_argument("--data", action="append", help="as for samhw run; by default the models' own")
    given = options.parse_args()
    models = given.models or (GRAPHS if given.data else model_names())
    found = list(follow(rows(models, given.data or ("auto",)), len(models)))
    on = "+".join(given.data) if given.data else "default data"
    report(f"chosen automatically, on {on}", found, given.json)


if __name__ == "__main__":
    main()
