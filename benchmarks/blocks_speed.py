"""How fast the simulator is on blocks: operations on values a second, over those of the same program without
blocks.

The programs are those of FuseFlow's figure 17 (`samhw.app.papers.fuseflow`), under BigBird's mask of aligned
blocks, so that blocks fill in no zeros. Operations are counted without blocks, for both. Processor times with
`engine="auto"`, the least of some runs that take turns, when functions have been compiled.

Usage, from the repository's root: python -m benchmarks.blocks_speed [--program product|attention] [--size N]
[--widths 64,256] [--blocks 16] [--runs N] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.common import follow, parser, report
from benchmarks.simulator import timed_run
from samhw.app.papers.fuseflow import ATTENTION, MASKED, PRODUCTS
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.graph.numerics import value_type
from samhw.sim import operations
from samhw.targets.running.images import load_inputs

PROGRAMS = {"product": ("i32", MASKED), "attention": ("f32", ATTENTION)}
"""The value type of each, and its text."""


def rows(
    program: str, size: int, widths: Sequence[int], blocks: Sequence[int], runs: int
) -> Iterator[dict[str, Any]]:
    """A row for each width, size of blocks, and way to store them."""
    value = value_type(PROGRAMS[program][0])
    for width, block in ((width, block) for width in widths for block in blocks):
        data = f"synthetic:imdb,length={size},block={block}", f"random:d={width}"
        given = bind_program(PROGRAMS[program][1], data, value=value)
        sizes = {"i": block, "j": block, "d": min(block, PRODUCTS // block**2)}
        made, graphs = {}, {}
        for name, schedule in (("csr", Schedule()), ("blocks", Schedule(blocks=sizes))):
            compiled = compile_workload(given, schedule, value=value)
            words = load_inputs(compiled.program, compiled.design, given.tensors, compiled.recipes)
            made[name] = partial(timed_run, compiled, *words, "auto")
            graphs[name] = compiled.design.regions
        found = {name: run()[0] for name, run in made.items()}
        work = sum(
            sum(operations(graph, result).values())
            for graph, result in zip(graphs["csr"], found["csr"], strict=True)
        )
        times: dict[str, list[float]] = {name: [] for name in made}
        for _ in range(runs):
            for name, run in made.items():
                times[name].append(run()[1])
        for name, results in found.items():
            yield {
                "width": width,
                "block": block,
                "stored as": name,
                "cycles": sum(result.cycles + 1 for result in results) - 1,
                "seconds": min(times[name]),
                "M operations/s": work / min(times[name]) / 1e6,
                "of csr": min(times["csr"]) / min(times[name]),
            }


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--program", choices=[*PROGRAMS], default="product")
    options.add_argument("--size", type=int, default=1024)
    options.add_argument("--widths", default="64,256")
    options.add_argument("--blocks", default="16")
    options.add_argument("--runs", type=int, default=5, help="of which the fastest counts (5)")
    given = options.parse_args(arguments)
    widths, blocks = ([*map(int, text.split(","))] for text in (given.widths, given.blocks))
    found = list(follow(rows(given.program, given.size, widths, blocks, given.runs)))
    report(f"the simulator on blocks: {given.program}", found, given.json)


if __name__ == "__main__":
    main()
