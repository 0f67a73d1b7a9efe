"""A schedule that was tuned on one graph, used on another: its cycles, against one tuned there.

GCN, GIN and GraphSAGE with a hidden width of 16: tuned on `--data` (by default the stand-in for Cora), then
run on the stand-ins that are named. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.carried_over [SET ...] [--data DATA]
[--budget SECONDS] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import VALUE, follow, measure, parser, report
from samhw.app.sweep.tuning import cost_of, shortlist, written_one
from samhw.app.workload import Workload, bind_program, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler.search.explore import explore

MODELS = ("gcn", "gin", "graphsage")

SIMULATED = 3
"""How many schedules of a search are simulated."""


def on(model: str, data: str) -> Workload:
    """The model on a graph with its features."""
    return bind_program(model, [data, "random:h=16"])


def tuned(workload: Workload, seconds: float) -> tuple[Schedule, int]:
    """The best schedule that a search by estimate and simulation finds, and its cycles."""
    found = explore(job_of(workload, Schedule(fuse="auto"), value=VALUE), seconds, cost_of("cycles"))
    chosen = [one.schedule for one in shortlist(found, written_one(found), SIMULATED)]
    runs = [(schedule, run) for schedule in chosen if (run := measure(workload, schedule)) is not None]
    best, run = min(runs, key=lambda one: one[1].cycles)
    return best, run.cycles


def rows(data: str, others: Sequence[str], seconds: float) -> Iterator[dict[str, Any]]:
    """A row for each model and each other graph."""
    for model in MODELS:
        schedule, _ = tuned(on(model, data), seconds)
        for other in others:
            workload = on(model, f"synthetic:{other}")
            carried = measure(workload, schedule)
            _, best = tuned(workload, seconds)
            yield {
                "model": model,
                "on": other,
                "tuned there": best,
                "carried over": None if carried is None else carried.cycles,
                "ratio": None if carried is None else carried.cycles / best,
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("sets", nargs="*", metavar="SET", help="by default cora_ml and dblp")
    options.add_argument("--data", default="synthetic:cora", help="as for samhw run")
    options.add_argument("--budget", type=float, default=30.0, help="seconds for each search")
    given = options.parse_args()
    others = given.sets or ("cora_ml", "dblp")
    found = list(follow(rows(given.data, others, given.budget), len(MODELS) * len(others)))
    report(f"tuned on {given.data}", found, given.json)


if __name__ == "__main__":
    main()
