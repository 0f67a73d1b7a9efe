"""What `--schedule auto` chooses, against the levels of fusion, groups of kinds, and schedules that were made
by hand (MODEL_by_*.ein of benchmarks/programs): cycles, and how long the choice takes.

All models on their default data and the other programs of benchmarks/programs, or what is named, or a graph's
data on GCN, GIN and GraphSAGE. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.choices [MODEL ...] [--data DATA ...] [--json FILE|-]
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import PROGRAMS, VALUE, follow, measure, parser, report, schedules
from samhw.app.workload import Workload, bind_program, job_of
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import choose_schedule
from samhw.lang import model_names

GRAPHS = ("gcn", "gin", "graphsage")
"""The models that data of a graph are tried on, where none are named."""


def programs() -> list[str]:
    """The programs of benchmarks/programs that are not schedules of models."""
    return sorted(path.stem for path in PROGRAMS.glob("*.ein") if "_by_" not in path.stem)


def rows(names: Sequence[str], data: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each model or program: the cycles under each given schedule and under the chosen one."""
    for name in names:
        workload = bind_program(str(PROGRAMS / f"{name}.ein") if name in programs() else name, data)
        start = time.process_time()
        chosen = choose_schedule(job_of(workload, Schedule(fuse="auto"), value=VALUE))
        seconds = time.process_time() - start
        cycles = {level: cycles_of(workload, Schedule(fuse=level)) for level in (*FUSION_LEVELS, "kinds")}
        by_hand = (cycles_of(other, Schedule()) for other in schedules(name, workload.tensors))
        cycles["by hand"] = min(filter(None, by_hand), default=None)
        auto = cycles_of(workload, chosen.compiled.schedule)
        assert auto is not None
        best = min(filter(None, cycles.values()))
        yield {
            "program": name,
            **cycles,
            "auto": auto,
            "expected": round(chosen.cycles),
            "to the best": auto / best,
            "to kinds": auto / (cycles["kinds"] or best),
            "speed-up": (cycles["none"] or best) / auto,
            "ms": round(1000 * seconds),
        }


def cycles_of(workload: Workload, schedule: Schedule) -> int | None:
    """The cycles of a run; None under a schedule that is impossible."""
    found = measure(workload, schedule)
    return None if found is None else found.cycles


def main() -> None:
    options = parser(__doc__)
    options.add_argument("names", nargs="*", metavar="MODEL", help="by default all, or those of graphs")
    options.add_argument("--data", action="append", help="as for samhw run; by default the models' own")
    given = options.parse_args()
    names = given.names or (GRAPHS if given.data else [*model_names(), *programs()])
    found = list(follow(rows(names, given.data or ("auto",)), len(names)))
    on = "+".join(given.data) if given.data else "default data"
    report(f"chosen automatically, on {on}", found, given.json)


if __name__ == "__main__":
    main()
