"""How many orders of indices each model has (FuseFlow table 4), counted without listing them.

Any order: every permutation of a region's indices. Stored: those that visit each stored tensor as its
format says. Constrained: those that also keep the order of each statement. Regions multiply. A level that is
impossible has no row.

Usage, from the repository's root: python -m benchmarks.design_space [MODEL ...] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from benchmarks.common import VALUE, follow, parser, report
from samhw.app.workload import compile_workload, make_model_workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.compiler.search import order_spaces
from samhw.errors import ScheduleError
from samhw.lang import model_names

LEVELS: tuple[FusionLevel, ...] = ("partial", "full")


def rows(models: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each model and level."""
    for model in models:
        workload = make_model_workload(model)
        for level in LEVELS:
            program = Schedule(fuse=level).apply(workload.program)
            try:
                compile_workload(replace(workload, program=program), value=VALUE)
            except ScheduleError:
                continue
            # Uses of an intermediate share indices where they can; regions are whole, however they are run.
            spaces = [order_spaces(program, region)[0] for region in program.regions]
            any_order = prod(space.any_order for space in spaces)
            constrained = prod(space.kept_all for space in spaces)
            yield {
                "model": model,
                "fusion": level,
                "indices": " + ".join(str(len(space.indices)) for space in spaces),
                "any order": any_order,
                "stored": prod(space.kept_storage for space in spaces),
                "constrained": constrained,
                "% fewer": 100 * (1 - constrained / any_order),
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    arguments = options.parse_args()
    models = arguments.models or model_names()
    found = list(follow(rows(models), len(models) * len(LEVELS)))
    report("orders of indices", found, arguments.json)


if __name__ == "__main__":
    main()
