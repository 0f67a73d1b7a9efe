"""What lanes cost on an ECP5: the area of whole fabrics by number of lanes, by Yosys (pip install
samhw[fpga]).

A fabric is all nodes and channels of a design and their control, without the memories of tensors. `of n` is
the area over that of as many fabrics with one lane, and `inside` the same of what lies inside of the lanes:
the nodes that get copies, scatters, gathers and trees, and the channels at them. Each is for whatever there
is more of, LUTs or registers. For `of n` a fabric is synthesised as one, and for `inside` module by module.

Usage, from the repository's root: python -m benchmarks.lanes_area [KERNEL ...] [--lanes i=2,i=4]
[--json FILE|-]
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import prod
from typing import Any

from benchmarks.common import follow, parser, report
from benchmarks.synthesis import cells, parts
from samhw.app.workload import compile_workload, make_workload
from samhw.choices.choice import choice
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.cost import Use
from samhw.lang import load_kernel
from samhw.rtl.fabric import Fabric
from samhw.targets.building.boards.netlist import use_of


def rows(names: Sequence[str], several: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each program and each choice of lanes, the first with one lane."""
    for name in names:
        workload = make_workload(load_kernel(name), ["karate"])
        choices = {
            lanes: compile_workload(workload, Schedule(lanes=choice("lanes").parse(lanes)))
            for lanes in ("1", *several)
        }
        # Copies have other names.
        outside = set.intersection(*({node.name for _, node in c.design.nodes} for c in choices.values()))
        one: tuple[Use, Use] | None = None
        for lanes, compiled in choices.items():
            found = use_of(cells(Fabric(compiled.design, compiled.arch))), inside(compiled, outside)
            one = one or found
            copies = prod(choice("lanes").parse(lanes).values())
            ratios = (more(*pair, copies) for pair in zip(found, one, strict=True))
            nodes = len(compiled.design.nodes)
            shares = dict(zip(("of n", "inside"), ratios, strict=True))
            yield {"program": name, "lanes": lanes, "nodes": nodes, **asdict(found[0]), **shares}


def inside(compiled: Compiled, outside: set[str]) -> Use:
    """What all nodes but those take, with the channels at them."""
    fabric = Fabric(compiled.design, compiled.arch)
    apart = {fabric.submodules[key] for key in fabric.nodes if key[1] in outside} | {"control"}
    for region, channel in compiled.design.channels:
        ends = channel.source.node, channel.sink.node
        if outside.issuperset(ends):
            apart.add(f"ch_{fabric.submodules[region, channel.sink.node]}_{channel.sink.port}")
    total: Counter[str] = Counter()
    for name, found in parts(fabric).items():
        if name not in apart:
            total += found
    return use_of(total)


def more(use: Use, one: Use, copies: int) -> float:
    """The area over that of this many of another, for LUTs or registers."""
    return max(use.luts / one.luts, use.registers / one.registers) / copies


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("kernels", nargs="*", default=["spmm", "sddmm"], help="on the karate club")
    options.add_argument("--lanes", default="i=2,i=4,i=8", help="in one word each")
    given = options.parse_args(arguments)
    found = list(follow(rows(given.kernels, given.lanes.split(","))))
    report("area by lanes", found, given.json)


if __name__ == "__main__":
    main()
