"""Estimates against the simulator: operations, bytes and cycles, by their relative error.

All models and kernels at three levels of fusion, each on three data sets where it takes them: Cora (a file),
a power-law graph, and random data; and random programs, drawn as the tests draw them. `--kind` takes other
statistics than exact ones; `--data`, or `SAMHW_DATA`, names the folder of Cora; `--worst N` lists the runs
that are furthest off. `--memory ddr4` has all tensors
off chip, also with 4 lanes, and with regions side by side.

Usage, from the repository's root: python -m benchmarks.estimates [--data FOLDER] [--programs N] [--kind KIND]
[--memory NAME] [--worst N] [--json FILE|-]
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common import VALUE, data_option, follow, parser, report
from samhw.app.checking.measure import measure_compiled
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.compiler import estimate_compiled
from samhw.cost.statistics import KINDS
from samhw.errors import InputError, RunError
from samhw.graph import OffChipMemory, load_memory
from samhw.lang import Program, kernel_names, model_names
from samhw.tensors.generate import power_law_graph
from samhw.tensors.io import write_tensor
from tests.support.program_cases import random_tensors
from tests.support.strategies.chains import chained_programs
from tests.support.strategies.drawn import drawn

FIGURES = ("operations", "bytes", "cycles")


def models(folder: Path | None, graph: Path) -> Iterator[tuple[str, Workload]]:
    """Models and kernels on the data that each takes."""
    cora = None if folder is None else folder / "cora.npz"
    for name in model_names():
        reads_graph = any(decl.name == "A" for decl in bind_program(name).program.inputs)
        if reads_graph and cora is not None:
            width = ["random:h=16"] if name != "gat" else []
            yield f"{name}, Cora", bind_program(name, [str(cora), *width])
        if reads_graph:
            yield f"{name}, power law", bind_program(name, [str(graph)])
        yield f"{name}, random", bind_program(name, ["random:seed=1"])
    for name in kernel_names():
        for label, data in (("power law", str(graph)), ("random", "random:size=40,density=0.1,seed=1")):
            try:
                yield f"{name}, {label}", bind_program(name, [data])
            except InputError:
                continue


def random_programs(count: int) -> list[tuple[str, Workload]]:
    """Random programs, with data."""
    found: list[tuple[str, Workload]] = []

    @drawn(count, 0)
    @given(chained_programs(integers=False, max_extent=12), st.integers(0, 2**32 - 1))
    def draw(program: Program, number: int) -> None:
        tensors = random_tensors(program, np.random.default_rng(number))
        found.append((f"random program {len(found)}", Workload("random", program, tensors)))

    draw()
    return found


LANES = 4


def schedules(workload: Workload, memory: OffChipMemory | None) -> dict[str, Schedule]:
    """Each level of fusion; beside a memory also what contends for it: lanes of the first two indices of
    each result, and regions side by side."""
    found: dict[str, Schedule] = {level: Schedule(fuse=level) for level in FUSION_LEVELS}
    if memory is not None:
        indices = dict.fromkeys(i for s in workload.program.statements for i in s.lhs.variables[:2])
        found |= {f"{LANES} lanes of {index}": Schedule(lanes={index: LANES}) for index in indices}
        if len(workload.program.statements) > 1:
            found["side by side"] = Schedule(fuse="none", parallel="all")
    return found


def rows(
    cases: Sequence[tuple[str, Workload]], kind: str, memory: OffChipMemory | None
) -> Iterator[dict[str, Any]]:
    """A row for each case and schedule."""
    for name, workload in cases:
        statistics = workload.statistics(kind)
        for level, schedule in schedules(workload, memory).items():
            try:
                compiled = compile_workload(workload, schedule, value=VALUE, memory=memory)
                taken = measure_compiled(workload, compiled, memory=memory)
            except (InputError, RunError):
                continue
            begin = perf_counter()
            expected = estimate_compiled(compiled, statistics)
            seconds = perf_counter() - begin
            pairs = {
                "operations": (expected.operations, taken.operations),
                "bytes": (expected.bytes, taken.bytes_read + taken.bytes_written),
                "cycles": (expected.cycles, taken.cycles),
            }
            yield {"case": name, "schedule": level, "ms": 1e3 * seconds, **pairs}


def error(pair: tuple[float, float]) -> float:
    """The relative error of an estimate."""
    expected, taken = pair
    return (expected - taken) / max(taken, 1.0)


def summary(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The errors of all runs, and of models and random programs by themselves."""
    groups = {
        "all": found,
        "models and kernels": [row for row in found if not row["case"].startswith("random program")],
        "random programs": [row for row in found if row["case"].startswith("random program")],
    }
    for label, group in groups.items():
        for figure in FIGURES if group else ():
            errors = np.abs([error(row[figure]) for row in group]) * 100
            yield {
                "runs": label,
                "figure": figure,
                "number": len(group),
                "median %": float(np.median(errors)),
                "90th %": float(np.percentile(errors, 90)),
                "worst %": float(errors.max()),
            }


def worst(found: list[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """The runs that are furthest off, for each figure."""
    for figure in FIGURES:
        for row in sorted(found, key=lambda row: -abs(error(row[figure])))[:count]:
            expected, taken = row[figure]
            yield {
                "figure": figure,
                "case": row["case"],
                "schedule": row["schedule"],
                "estimate": round(expected),
                "run": round(taken),
                "error %": 100 * error(row[figure]),
            }


def main() -> None:
    options = parser(__doc__)
    data_option(options)
    options.add_argument("--programs", type=int, default=200, help="random programs")
    options.add_argument("--kind", choices=KINDS, default="exact", help="of the statistics")
    options.add_argument("--memory", help="what holds all tensors off chip, such as ddr4")
    options.add_argument("--worst", type=int, default=0, help="list this many for each figure")
    options.add_argument("--only-programs", action="store_true", help="leave out models and kernels")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "power_law.mtx"
        write_tensor(graph, power_law_graph(300, 0.02, seed=0))
        cases = [] if arguments.only_programs else list(models(arguments.data, graph))
    cases += random_programs(arguments.programs) if arguments.programs else []
    memory = load_memory(arguments.memory) if arguments.memory else None
    found = list(follow(rows(cases, arguments.kind, memory)))
    if arguments.worst:
        report("furthest off", list(worst(found, arguments.worst)), None)
    beside = f", all tensors in {memory.name}" if memory else ""
    report(f"estimates from {arguments.kind} statistics{beside}", list(summary(found)), arguments.json)


if __name__ == "__main__":
    main()
