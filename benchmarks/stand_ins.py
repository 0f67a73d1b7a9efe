"""What `--schedule auto` gains on graphs of the sizes of FuseFlow's data sets, against the paper's ratios.

GCN and GraphSAGE with a hidden width of 16 and four classes, unfused and as chosen, in one lane. To reach is
the ratio of the paper, or 0.9 of what the products allow, whichever is less: no design with one lane takes
fewer cycles than its busiest statement has products, and brackets lower these. With `--memory` all tensors
lie off chip. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.stand_ins [SET ..] [--model MODEL ..]
[--memory hbm2|ddr4] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import VALUE, follow, parser, report
from samhw.checking.measure import measure
from samhw.errors import RunError
from samhw.graph import Dram
from samhw.schedule import Schedule
from samhw.search import Request, choose_schedule, work_of
from samhw.workload import Workload, bind_program, request_for

PAPER = {
    "gcn": {"cora": 1.63, "cora_ml": 1.88, "dblp": 1.49, "collab": 2.58, "mag": 2.13},
    "graphsage": {"cora": 2.10, "cora_ml": 1.85, "dblp": 2.02, "collab": 3.11, "mag": 3.92},
}
"""Cycles unfused to partly fused in the paper's figure, by model and data set."""


def least_products(request: Request, chosen: Schedule) -> float:
    """The fewest points that the busiest statement has, as written or with the chosen brackets."""
    programs = (Schedule(brackets=one.brackets).apply(request.program) for one in (Schedule(), chosen))
    return min(max(work_of(program.bind({}), request.sizes()).points.values()) for program in programs)


def cycles_of(workload: Workload, schedule: Schedule, memory: Dram | None) -> int:
    """The cycles of a run; all tensors off chip where there is a memory."""
    found = measure(workload, schedule, value=VALUE, memory=memory)
    if found.result == "wrong":
        raise RunError(f"The result of {workload.name} ({schedule}) is wrong; please report this as a bug.")
    return found.cycles


def rows(models: Sequence[str], sets: Sequence[str], memory: Dram | None) -> Iterator[dict[str, Any]]:
    """A row for each model and set."""
    for model in models:
        for name in sets:
            workload = bind_program(model, [f"synthetic:{name}", "random:h=16"])
            request = request_for(workload, Schedule(fuse="auto"), value=VALUE)
            chosen = choose_schedule(request).compiled.schedule
            unfused, auto = (cycles_of(workload, one, memory) for one in (Schedule("none"), chosen))
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
    options.add_argument("--memory", metavar="hbm2|ddr4|FILE", help="by default none: all lies on chip")
    given = options.parse_args()
    models, sets = given.model or tuple(PAPER), given.sets or tuple(PAPER["gcn"])
    memory = None if given.memory is None else Dram.load(given.memory)
    found = list(follow(rows(models, sets, memory), len(models) * len(sets)))
    report(f"chosen on stand-ins, {given.memory or 'on chip'}", found, given.json)


if __name__ == "__main__":
    main()
