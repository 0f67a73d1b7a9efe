"""Lanes with ranges of rows beside lanes that have rows in turns: the cycles of the simulator, and what is
expected of an ECP5.

`hbm2` are the cycles where the banks lie in the 16 channels of an HBM2 and all else on the chip. `times` is
how many times as fast as one lane. `compile` is what the design takes, in seconds of a processor.

Usage, from the repository's root: python -m benchmarks.row_ranges [--only NAME] [--lanes 4,8,16,64]
[--json FILE|-]
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common import bind, follow, parser, report
from samhw.app.checking import check
from samhw.app.workload import Workload, bind_program, compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import area_of
from samhw.errors import RunError
from samhw.graph import load_memory
from samhw.lang import load_kernel
from samhw.targets.backends import run
from samhw.tensors import Tensor

COLUMNS = 64
"""Of SpMM."""


def workloads(only: str) -> Iterator[tuple[str, Workload]]:
    """The kernels with their data, by name."""
    for name, kernel, size, density in (
        ("SpMV, 2,048 at 1 %", "spmv", 2_048, 0.01),
        (f"SpMM, 1,024 at 1 %, {COLUMNS} columns", "spmm", 1_024, 0.01),
        ("SDDMM, 512 at 2 %", "sddmm", 512, 0.02),
        ("SpMSpM, 512 at 2 %", "spmspm_ikj", 512, 0.02),
    ):
        if name.startswith(only):
            found = bind_program(kernel, [f"random:size={size},density={density}"])
            if kernel == "spmm":
                wide = np.random.default_rng(1).integers(1, 5, (size, COLUMNS))
                found = bind(load_kernel(kernel), {**found.tensors, "X": Tensor.from_dense(wide, "dense")})
            yield name, found


def rows(cases: Iterable[tuple[str, Workload]], lanes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """A row for each kernel, number of lanes, and way to deal rows."""
    for name, workload in cases:
        one: int | None = None
        for count, deal in [(1, "turns"), *((n, way) for n in lanes for way in ("turns", "ranges"))]:
            fields = {"lanes": {"i": count}, "deal": {"i": deal}} if count > 1 else {}
            found = measured(workload, Schedule.from_fields(fields))
            one = one or found["cycles"]
            times = {"kernel": name, "lanes": count, "rows": deal, "times": one / found["cycles"]}
            hbm2 = off_chip(workload, Schedule.from_fields(fields)) if deal == "ranges" else None
            yield {**times, **found, "hbm2": hbm2}


def off_chip(workload: Workload, schedule: Schedule) -> int:
    """The cycles beside the 16 channels of an HBM2 that has the banks; what all lanes read lies on chip."""
    design = compile_workload(workload, schedule).design
    shared = {tensor.name: "chip" for tensor in design.tensors if not tensor.rows}
    memory = load_memory("hbm2")
    compiled = compile_workload(workload, replace(schedule, place=shared, on_chip="none"), memory=memory)
    return run(compiled, workload.tensors, memory=memory).cycles


def measured(workload: Workload, schedule: Schedule) -> dict[str, Any]:
    """What a design takes, and its run, whose result is right."""
    begin = process_time()
    compiled = compile_workload(workload, schedule)
    seconds = process_time() - begin
    result = run(compiled, workload.tensors)
    if not check(workload, compiled, result.outputs).good:
        raise RunError(f"{workload.program.name} under {schedule} gave a wrong result.")
    use = area_of(compiled).use
    area = {"luts": round(use.luts), "block_rams": round(use.block_rams), "compile": round(seconds, 2)}
    return {"cycles": result.cycles, **area}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--only", default="", help="kernels whose names begin so")
    options.add_argument("--lanes", default="4,8,16,64")
    given = options.parse_args(arguments)
    lanes = [int(n) for n in given.lanes.split(",")]
    found = list(follow(rows(workloads(given.only), lanes)))
    report("ranges of rows", found, given.json)


if __name__ == "__main__":
    main()
