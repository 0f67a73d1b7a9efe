"""The time to compile each model at each level of fusion, from the program to the graph with sized channels.

The best of several runs, in milliseconds of processor time on one core. FuseFlow states 750 ms as its bound.
A level that is impossible has no row.

Usage, from the repository's root: python -m benchmarks.compile_time [MODEL ...] [--repeats N] [--json FILE|-]

`--before FOLDER` times another checkout beside this one, by its own copy of this benchmark: round after round
each takes its turn, and `--rounds` of them are made. What else the machine does then slows both alike.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import VALUE, follow, parser, report
from samhw.app.workload import make_model_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import ScheduleError
from samhw.lang import model_names


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
                    compiled = compile_job(Job(program, value=VALUE, capacity=capacity))
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


def rows_of(checkout: Path, models: Sequence[str], repeats: int) -> list[dict[str, Any]]:
    """The rows that the benchmark of a checkout gives, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.compile_time", *models]
    done = subprocess.run(
        [*command, "--repeats", str(repeats), "--json", "-"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout.absolute())},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return found


def compared(before: Path, models: Sequence[str], repeats: int, rounds: int) -> Iterator[dict[str, Any]]:
    """The rows of this checkout, each with the best time of the one before."""
    times: dict[Path, dict[tuple[str, str], dict[str, Any]]] = {before: {}, Path(): {}}
    for _ in follow(range(rounds), rounds):
        for checkout, best in times.items():
            for row in rows_of(checkout, models, repeats):
                known = best.setdefault((row["model"], row["fusion"]), row)
                known["ms"] = min(known["ms"], row["ms"])
    for key, row in times[Path()].items():
        yield {**row, "before": times[before].get(key, {}).get("ms")}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--before", type=Path, metavar="FOLDER", help="another checkout")
    options.add_argument("--rounds", type=int, default=3, help="of both, with --before")
    arguments = options.parse_args()
    models = arguments.models or model_names()
    if arguments.before is None:
        found = list(follow(rows(models, arguments.repeats), len(models) * len(FUSION_LEVELS)))
    else:
        found = list(compared(arguments.before, models, arguments.repeats, arguments.rounds))
    slowest = max(found, key=lambda row: row["ms"])
    title = f"compilation; the slowest is {slowest['model']}, {slowest['fusion']}: {slowest['ms']:.0f} ms"
    report(title, found, arguments.json)


if __name__ == "__main__":
    main()
