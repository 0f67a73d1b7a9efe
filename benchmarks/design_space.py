"""How many orders of indices each model has (FuseFlow table 4), counted without listing them.

Any order: every permutation of a region's indices. Stored: those that visit each stored tensor as its format
has it. Constrained: those that also keep the order of each statement. Regions multiply. A level that is
impossible has no row.

Usage, from the repository's root: python -m benchmarks.design_space [MODEL ..] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import factorial, prod
from typing import Any

import networkx as nx

from benchmarks.common import VALUE, follow, parser, report
from samhw.compiler import CompiledRegion, Dimensions
from samhw.compiler.fuse import FusedRegion
from samhw.compiler.order import count_orders, partial_order
from samhw.errors import ScheduleError
from samhw.frontend import FusionLevel, Program, Region, model_names
from samhw.targets import compile_workload, make_model_workload

LEVELS: tuple[FusionLevel, ...] = ("partial", "full")


def rows(models: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each model and level."""
    for model in models:
        workload = make_model_workload(model)
        for level in LEVELS:
            program = workload.program.with_fusion(level)
            try:
                regions = compile_workload(replace(workload, program=program), value=VALUE).regions
            except ScheduleError:
                continue
            indices = [len(region.partial_order) for region in regions]
            any_order = prod(map(factorial, indices))
            constrained = prod(count_orders(region.partial_order) for region in regions)
            yield {
                "model": model,
                "fusion": level,
                "indices": " + ".join(map(str, indices)),
                "any order": any_order,
                "stored": prod(map(count_orders, stored_orders(program, regions))),
                "constrained": constrained,
                "% fewer": 100 * (1 - constrained / any_order),
            }


def stored_orders(program: Program, regions: Sequence[CompiledRegion]) -> "Iterator[nx.DiGraph[str]]":
    """The partial order of each region as if no statement had an order of its own."""
    free = [Region(tuple(replace(s, order=None) for s in region.statements)) for region in program.regions]
    program = replace(program, regions=tuple(free))
    dimensions = Dimensions(program)
    of_statement = {s: dimensions.of_statement(s) for s in program.statements}
    for region, compiled in zip(free, regions, strict=True):
        yield partial_order(FusedRegion(program, region, of_statement, compiled.fused.sharing))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    arguments = options.parse_args()
    models = arguments.models or model_names()
    found = list(follow(rows(models), len(models) * len(LEVELS)))
    report("orders of indices", found, arguments.json)


if __name__ == "__main__":
    main()
