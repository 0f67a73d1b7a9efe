"""How far `--schedule auto` is from the least that one lane allows of the GPT-3-shaped decoder block.

Unfused, under the schedule that is chosen, and at the least: `keys` is what the product that makes the keys
takes, which must end before the first query has met all of its keys, since the mask has all of them for the
first row; only then the first row of the hidden layer, whose product takes `hidden`, can begin. A unit takes
one token a cycle. The rows of the other bracket, which brings the weights to the queries and needs no keys,
are `scores`: that product alone. The default sizes are those of the model (f = 2 e, four heads) and five
with sequences of 512.

Usage, from the repository's root: python -m benchmarks.decoder_block [--sizes i,e,h,d,f ...] [--estimate]
[--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import VALUE, bind, expected_cycles, follow, measure, parser, report
from samhw.app.workload import Workload, job_of
from samhw.choices.schedule import Schedule
from samhw.compiler.pipeline import choose_schedule
from samhw.lang import load_model, model_data

SIZES = (
    *("64,32,4,8,64", "512,256,4,8,64", "512,256,32,8,512"),
    *("512,256,4,64,512", "512,256,4,64,1024", "512,256,4,8,1024"),
)


def rows(sizes: Sequence[str], simulated: bool) -> Iterator[dict[str, Any]]:
    """A row for each list of extents."""
    for text in sizes:
        extent = dict(zip("iehdf", map(int, text.split(",")), strict=True))
        workload = bind(load_model("gpt3_block"), model_data("gpt3_block", sizes=extent))
        chosen = choose_schedule(job_of(workload, Schedule(fuse="auto"), value=VALUE))
        unfused = cycles(workload, Schedule(fuse="none"), simulated)
        auto = cycles(workload, chosen.compiled.schedule, simulated)
        i, e, h, d, f = extent.values()
        keys, hidden = i * e * h * d, i * e * f
        scores = round(workload.statistics().stocks["M"].entries) * h * e
        least = max(hidden, min(keys + hidden, scores))
        yield {
            **extent,
            "unfused": unfused,
            "auto": auto,
            "gain": unfused / auto,
            "keys": keys,
            "hidden": hidden,
            "scores": scores,
            "least": least,
            "most gain": unfused / least,
        }


def cycles(workload: Workload, schedule: Schedule, simulated: bool) -> int:
    """Those of a checked run, or those that are expected."""
    if not simulated:
        return expected_cycles(workload, schedule)
    found = measure(workload, schedule)
    assert found is not None
    return found.cycles


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sizes", nargs="*", default=SIZES, metavar="i,e,h,d,f", help="extents")
    options.add_argument("--estimate", action="store_true", help="simulate nothing")
    given = options.parse_args()
    found = list(follow(rows(given.sizes, not given.estimate), len(given.sizes)))
    report("a decoder block on one lane", found, given.json)


if __name__ == "__main__":
    main()
