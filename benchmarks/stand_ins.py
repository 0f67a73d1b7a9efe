"""What `--schedule auto` gains on graphs of the sizes of FuseFlow's data sets, against the paper's ratios.

GCN and GraphSAGE with a hidden width of 16 and four classes, unfused and as chosen, in one lane. To reach is
the ratio of the paper, or 0.9 of what the products allow, whichever is less: no design with one lane takes
fewer cycles than its busiest statement has products, and brackets lower these. With `--memory` all tensors
lie off chip. Every result is checked against NumPy. With `--estimate` nothing is simulated, for sets whose
runs take an hour and tens of gigabytes.

Usage, from the repository's root: python -m benchmarks.stand_ins [SET ...] [--model MODEL ...]
[--memory hbm2|ddr4 | --estimate] [--json FILE|-]
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.common import VALUE, expected_cycles, follow, parser, report
from samhw.app.checking.measure import measure
from samhw.app.workload import Workload, bind_program, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import choose_schedule
from samhw.compiler.search import Job, work_of
from samhw.errors import RunError
from samhw.graph import OffChipMemory, load_memory

PAPER = {
    "gcn": {"cora": 1.63, "cora_ml": 1.88, "dblp": 1.49, "collab": 2.58, "mag": 2.13},
    "graphsage": {"cora": 2.10, "cora_ml": 1.85, "dblp": 2.02, "collab": 3.11, "mag": 3.92},
}
"""Cycles unfused to partly fused in the paper's figure, by model and data set."""


def least_products(request: Job, chosen: Schedule) -> float:
    """The fewest points that the busiest statement has, as written or with the chosen brackets."""
    programs = (Schedule(brackets=one.brackets).apply(request.program) for one in (Schedule(), chosen))
    return min(max(work_of(program.bind({}), request.sizes()).points.values()) for program in programs)


def simulated_cycles(memory: OffChipMemory | None, workload: Workload, schedule: Schedule) -> int:
    """The cycles of a run; all tensors off chip where there is a memory."""
    found = measure(workload, schedule, value=VALUE, memory=memory)
    if found.result == "wrong":
        raise RunError(f"The result of {workload.name} ({schedule}) is wrong; please report this as a bug.")
    return found.cycles


def rows(
    models: Sequence[str], sets: Sequence[str], cycles_of: Callable[[Workload, Schedule], int]
) -> Iterator[dict[str, Any]]:
    """A row for each model and set."""
    for model in models:
        for name in sets:
            workload = bind_program(model, [f"synthetic:{name}", "random:h=16"])
            request = job_of(workload, Schedule(fuse="auto"), value=VALUE)
            chosen = choose_schedule(request).compiled.schedule
            unfused, auto = (cycles_of(workload, one) for one in (Schedule(fuse="none"), chosen))
            allowed = unfused / least_products(request, chosen)
            reach = min(PAPER[model][name], 0.9 * allowed)
            yield {
                "model": model,
                "set": name,
                "none": unfused,
                "auto": auto,
                "to none": unfused / auto,
                "the paper's": PAPER[model][name],
                "products allow": allowed,
                "bound": "the paper's" if reach == PAPER[model][name] else "products",
                "reached": unfused / auto >= reach,
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("sets", nargs="*", metavar="SET", help="by default all of them")
    options.add_argument("--model", action="append", choices=tuple(PAPER), help="by default both")
    how = options.add_mutually_exclusive_group()
    how.add_argument("--memory", metavar="hbm2|ddr4|FILE", help="by default none: all lies on chip")
    how.add_argument("--estimate", action="store_true", help="simulate nothing")
    given = options.parse_args()
    models, sets = given.model or tuple(PAPER), given.sets or tuple(PAPER["gcn"])
    memory = None if given.memory is None else load_memory(given.memory)
    cycles_of = expected_cycles if given.estimate else partial(simulated_cycles, memory)
    found = list(follow(rows(models, sets, cycles_of), len(models) * len(sets)))
    how_run = f"{given.memory or 'on chip'}{', expected' if given.estimate else ''}"
    report(f"chosen on stand-ins, {how_run}", found, given.json)


if __name__ == "__main__":
    main()
