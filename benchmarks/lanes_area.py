"""What lanes cost on an ECP5-85: the area of whole fabrics by number of lanes, by Yosys (pip
install samhw[fpga]).

A fabric is all nodes and channels of a design and their control, without the memories of tensors. `of n` is
the area over that of as many fabrics with one lane, for whatever there is more of: LUTs or registers.

Usage, from the repository's root: python -m benchmarks.lanes_area [KERNEL ..] [--lanes i=2,i=4]
[--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from benchmarks.common import follow, parser, report
from benchmarks.synthesis import cells
from samhw.frontend import load_kernel
from samhw.rtl.fabric import Fabric
from samhw.schedule import Schedule, parse_lanes
from samhw.workload import compile_workload, make_workload


def rows(names: Sequence[str], several: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each program and each choice of lanes, the first with one lane."""
    for name in names:
        workload = make_workload(load_kernel(name), ["karate"])
        one: dict[str, int] = {}
        for lanes in ("1", *several):
            counts = parse_lanes(lanes)
            compiled = compile_workload(workload, Schedule(lanes=counts))
            found = cells(Fabric(compiled.design, compiled.arch))
            used = {
                # A carry cell has two, and a memory of 16 words of 4 bits takes six.
                "LUTs": found["LUT4"] + 2 * found["CCU2C"] + 6 * found["TRELLIS_DPR16X4"],
                "registers": found["TRELLIS_FF"],
                "block RAMs": found["DP16KD"],
                "multipliers": found["MULT18X18D"],
            }
            one = one or used
            copies = prod(counts.values())
            more = max(used[kind] / one[kind] / copies for kind in ("LUTs", "registers"))
            yield {"program": name, "lanes": lanes, "nodes": len(compiled.design.nodes), **used, "of n": more}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("kernels", nargs="*", default=["spmm"], help="on the karate club (spmm)")
    options.add_argument("--lanes", default="i=2,i=4,i=8", help="in one word each")
    given = options.parse_args(arguments)
    found = list(follow(rows(given.kernels, given.lanes.split(","))))
    report("area by lanes", found, given.json)


if __name__ == "__main__":
    main()
