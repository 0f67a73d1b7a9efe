"""Initiation intervals of the HLS library's inner loops, by a dependence analysis of their LLVM IR.

Clang (of the package ziglang) makes LLVM IR of every function of the library, which llvmlite inlines and
unrolls. The interval of a pipelined loop is the least at which all recurrences and accesses have a place.
Delays follow those that Vitis HLS has printed for UltraScale+; stages are those of `--arch vitis`.

Usage, from the repository's root:
python -m benchmarks.intervals [KIND ...] [--value TYPE ...] [--each] [--period NS] [--uncertainty SHARE]
    [--json FILE|-]
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from benchmarks.common import follow, parser, report
from benchmarks.intervals.delays import Clock, Delays
from benchmarks.intervals.dependences import Dependences
from benchmarks.intervals.interval import interval
from benchmarks.intervals.ir import optimised, translated
from benchmarks.intervals.library import VALUES, Unit, partitioned
from benchmarks.intervals.loops import inner_loops
from samhw.errors import RunError
from samhw.graph import Arch


def rows(kinds: Sequence[str] | None, values: Sequence[str], clock: Clock) -> Iterator[dict[str, Any]]:
    """A row for each pipelined loop of each function, for every type and parameter that makes another one.

    Raises:
        RunError: for a pipelined loop with a loop inside that cannot be unrolled.
    """
    arch = Arch.vitis()
    for value in values:
        unit = Unit(value, arch, kinds)
        if not unit.calls:
            continue
        sources = unit.sources()
        module, in_parts = optimised(translated(sources, "unit.cpp")), partitioned(sources)
        for n, call in enumerate(unit.calls):
            function = module.get_function(f"process_{n}")
            loops = [Dependences(loop, Delays(arch), in_parts) for loop in inner_loops(function)]
            pipelined = [loop for loop in loops if loop.is_pipelined]
            if len(pipelined) != str(function).count("call void @hls_pipeline()"):
                raise RunError(f"A pipelined loop of {call.process.function} has a loop inside.")
            for number, loop in enumerate(pipelined, 1):
                found = interval(loop, clock)
                yield {
                    "function": call.process.function,
                    "loop": number if len(pipelined) > 1 else None,
                    "of": ", ".join(filter(None, (value, call.variant))),
                    "II": found.cycles,
                    "ns": found.period,
                    "because": found.reason,
                }


def worst(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each loop the row with the greatest interval, and of these the one with the longest period."""
    chosen: dict[tuple[str, int | None], dict[str, Any]] = {}
    for row in found:
        key = row["function"], row["loop"]
        if key not in chosen or _rank(row) > _rank(chosen[key]):
            chosen[key] = row
    return list(chosen.values())


def _rank(row: dict[str, Any]) -> tuple[int, float]:
    return row["II"], row["ns"] or 0.0


def main() -> None:
    options = parser(__doc__)
    options.add_argument("kinds", nargs="*", metavar="KIND", help="kinds of primitives; default: all")
    options.add_argument("--value", action="append", metavar="TYPE", help="a value type; default: all five")
    options.add_argument("--each", action="store_true", help="each type and parameter, not the worst of them")
    options.add_argument("--period", type=float, default=4.0, help="of the clock, in nanoseconds")
    options.add_argument("--uncertainty", type=float, default=0.27, help="share that logic does not get")
    arguments = options.parse_args()
    clock = Clock(arguments.period, arguments.uncertainty)
    found = list(follow(rows(arguments.kinds or None, arguments.value or VALUES, clock)))
    report("initiation intervals", found if arguments.each else worst(found), arguments.json)


if __name__ == "__main__":
    main()
