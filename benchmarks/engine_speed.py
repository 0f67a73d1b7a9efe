"""Both engines of the simulator in two checkouts, in turns: firings a second here, over those of the other.

Each is timed by processes of its own, with what its own `benchmarks.simulator` makes. A ratio is that of the
least processor times of all rounds. For a change that is to leave the engines as fast as they were.

Usage, from the repository's root:
git worktree add ../before COMMIT
python -m benchmarks.engine_speed ../before [--rounds N] [--engines plain,compiled] [--json FILE|-]
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import follow, parser, report

HERE = Path(__file__).parent.parent

TIMES = """
import json, sys
from benchmarks import simulator as s
from samhw.targets.running.images import load_inputs

engine = sys.argv[1]
nodes, length, times = (200, 32, 2) if engine == "plain" else (2000, 256, 8)
graph = s.random_graph(nodes, 10 * nodes)
found = {}
for case in (
    s.spmm("generated", graph, 32),
    s.sddmm("generated", graph.to_coo()[0], graph.shape, 32),
    s.gcn_layer("generated", s.random_graph(nodes // 4, 5 * nodes // 4), s.small_features(nodes // 4, 100)),
    s.attention(length, 32),
    s.joins("mmadd", nodes // 2, 0.1),
):
    compiled = s.compiled_case(case)
    words = load_inputs(compiled.program, compiled.design, case.tensors)
    results = s.timed_run(compiled, *words, engine)[0]
    label = case.label.split(",")[0]
    seconds = min(s.timed_run(compiled, *words, engine)[1] for _ in range(times))
    found[label] = s.firings(results), seconds
print(json.dumps(found))
"""
"""Prints the firings and the seconds of some programs on an engine."""


def timed(checkout: Path, engine: str) -> dict[str, tuple[int, float]]:
    """The firings and the seconds of each program, in a process with the code of a checkout."""
    done = subprocess.run(
        [sys.executable, "-c", TIMES, engine],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout.resolve())},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, tuple[int, float]] = json.loads(done.stdout)
    return found


def rows(before: Path, engines: Sequence[str], rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each engine and program."""
    for engine in engines:
        found: dict[Path, list[dict[str, tuple[int, float]]]] = {before: [], HERE: []}
        for number in range(rounds):
            for checkout in (before, HERE) if number % 2 else (HERE, before):
                found[checkout].append(timed(checkout, engine))
        for program, (firings, _) in found[HERE][0].items():
            then, now = (min(times[program][1] for times in found[c]) for c in (before, HERE))
            yield {
                "engine": engine,
                "program": program,
                "firings": firings,
                "before, M/s": firings / then / 1e6,
                "M/s": firings / now / 1e6,
                "ratio": then / now,
            }


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("before", type=Path, help="the other checkout")
    options.add_argument("--rounds", type=int, default=5, help="of both (5)")
    options.add_argument("--engines", default="plain,compiled")
    given = options.parse_args(arguments)
    found = list(follow(rows(given.before, given.engines.split(","), given.rounds)))
    report("the engines of two checkouts", found, given.json)


if __name__ == "__main__":
    main()
