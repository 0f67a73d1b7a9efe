"""Every model as HLS C++: all levels of fusion and four value types, the result against the simulator's.

Each program becomes one top function that runs its regions. It is compiled with the flags of the project's
Makefile, where a warning counts as an error, and its C simulation must leave the simulator's words, bit by
bit, with streams of the emitted depths. A type that cannot hold a model must be refused with a sentence.

Usage, from the repository's root:
python -m benchmarks.hls_models [MODEL ...] [--fuse none,partial,full] [--value TYPE ...] [--json FILE|-]
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from benchmarks.common import follow, parser, report
from samhw.app.workload import Workload, compile_workload, make_model_workload
from samhw.choices.fuse import FUSION_LEVELS, FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import Integer, value_type
from samhw.hls import Options
from samhw.lang import model_names
from samhw.sim import simulated_regions, total_cycles
from samhw.targets.running.csim import HlsDesign, golden
from samhw.targets.running.images import load_inputs

VALUES = ("i32", "fixed<16,8>", "bf16", "f32")

LONG = 200_000
"""Cycles from which on the program is also compiled with the optimiser, and that one is run."""


@dataclass(frozen=True)
class Outcome:
    """A model that went through HLS: the streams of its design, the simulator's cycles, and seconds."""

    regions: int
    streams: int
    cycles: int
    building: float
    running: float


def model_workload(model: str, fuse: FusionLevel, value: str, data: Sequence[str] = ("karate",)) -> Workload:
    """A model with data that the type can hold."""
    workload = make_model_workload(model, data)
    workload = replace(workload, program=Schedule(fuse=fuse).apply(workload.program))
    return workload.in_whole_numbers() if isinstance(value_type(value), Integer) else workload


def run_model(compiled: Compiled, workload: Workload) -> Outcome:
    """Simulates, builds, runs and compares; raises as `HlsDesign.build` and `HlsDesign.run` do."""
    whole, arch = compiled.design, compiled.arch
    memories, extents = load_inputs(compiled.program, whole, workload.tensors)
    runs = list(simulated_regions(whole, arch, memories, extents))
    cycles = total_cycles(run.result for run in runs)
    start = time.perf_counter()
    design = HlsDesign.build(whole, arch, Options(one_top=True))
    if cycles >= LONG:
        design = HlsDesign.build(whole, arch, Options(one_top=True), optimise=True)
    building = time.perf_counter() - start
    result = design.run(memories, extents, golden(whole, [run.result for run in runs]))
    return Outcome(
        len(runs), sum(len(region.streams) for region in design.regions), cycles, building, result.seconds
    )


def rows(
    models: Sequence[str],
    levels: Sequence[FusionLevel] = FUSION_LEVELS,
    values: Sequence[str] = VALUES,
    data: Sequence[str] = ("karate",),
) -> Iterator[dict[str, Any]]:
    """A row for each model and level, with what came of each type; any failure raises."""
    for model, level in product(models, levels):
        outcomes = {value: outcome(model, level, value, data) for value in values}
        ran = [found for found in outcomes.values() if isinstance(found, Outcome)]
        yield {
            "model": model,
            "fusion": level,
            "regions": max((found.regions for found in ran), default=None),
            "streams": max((found.streams for found in ran), default=None),
            "cycles": max((found.cycles for found in ran), default=None),
            **{
                value: "equal" if isinstance(found, Outcome) else f"refused: {found}"
                for value, found in outcomes.items()
            },
            "build s": round(sum(found.building for found in ran), 1),
            "run s": round(sum(found.running for found in ran), 1),
        }


def outcome(model: str, level: FusionLevel, value: str, data: Sequence[str]) -> Outcome | str:
    """A model that has run, or the sentence with which it was refused."""
    workload = model_workload(model, level, value, data)
    try:
        compiled = compile_workload(workload, value=value_type(value), arch=Arch.vitis())
    except InputError as error:
        return str(error)
    return run_model(compiled, workload)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    options.add_argument("--fuse", default=",".join(FUSION_LEVELS), help="levels of fusion")
    options.add_argument("--value", action="append", metavar="TYPE", help="a value type; default: all four")
    arguments = options.parse_args()
    models = arguments.models or model_names()
    levels = arguments.fuse.split(",")
    found = list(follow(rows(models, levels, arguments.value or VALUES), len(models) * len(levels)))
    report("models in C simulation", found, arguments.json)


if __name__ == "__main__":
    main()
