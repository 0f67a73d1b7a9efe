"""What a layer more of a decoder costs the compiler, from the imported program to the design.

The best of several runs, in milliseconds of processor time. Each number of layers takes its turn in every
round, so that what else the machine does slows all alike. Regions that are alike are decided and lowered
once; of the others, what is left for each is its names and its place (pip install samhw[torch]).

Usage, from the repository's root: python -m benchmarks.layer_time [--rounds N] [--json FILE|-]
"""

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.common import follow, parser, report
from benchmarks.layers import PROGRAMS
from samhw.app.workload import bind_program, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job

SCHEDULE = Schedule(fuse="none")


def rows(rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each number of layers."""
    workloads = {layers: bind_program(program) for layers, program in PROGRAMS.items()}
    best = dict.fromkeys(PROGRAMS, float("inf"))
    compiled: dict[int, Compiled] = {}
    for _ in follow(range(rounds), rounds):
        for layers, workload in workloads.items():
            job = job_of(workload, SCHEDULE)
            start = time.process_time()
            compiled[layers] = compile_job(job)
            compiled[layers].design  # noqa: B018 - it is assembled when it is asked for
            best[layers] = min(best[layers], time.process_time() - start)
    least = min(best)
    for layers, found in compiled.items():
        yield {
            "layers": layers,
            "regions": len(found.design.regions),
            "fabrics": len(found.design.groups),
            "ms": best[layers] * 1e3,
            "of one": best[layers] / best[least],
        }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=20)
    given = options.parse_args()
    report("compiling layers", list(rows(given.rounds)), given.json)


if __name__ == "__main__":
    main()
