"""What shared hardware saves: LUTs and multipliers that are expected of an ECP5 for models whose statements
are regions of their own, and the cycles of a checked run.

`none` shares nothing, `auto` fabrics of equal regions where that costs no cycle, and `all` gives what runs in
turns nodes in common, too.

Usage, from the repository's root: python -m benchmarks.shared_hardware [MODEL ...] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import VALUE, bind, follow, measure, parser, report
from samhw.app.workload import compile_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import area_of
from samhw.lang import load_model, model_data, model_names


def rows(models: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each model and way to share."""
    for model in models:
        workload = bind(load_model(model), model_data(model))
        for share in ("none", "auto", "all"):
            schedule = Schedule(fuse="none", share_hardware=share)
            compiled = compile_workload(workload, schedule, value=VALUE)
            area, ran = area_of(compiled, "ecp5").use, measure(workload, schedule)
            assert ran is not None
            yield {
                "model": model,
                "shared": share,
                "regions": len(compiled.design.regions),
                "fabrics": len(compiled.design.groups),
                "luts": area.luts,
                "multipliers": area.multipliers,
                "cycles": ran.cycles,
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("models", nargs="*", default=model_names(), help="by default all of them")
    given = options.parse_args()
    report("shared hardware", list(follow(rows(given.models), 3 * len(given.models))), given.json)


if __name__ == "__main__":
    main()
