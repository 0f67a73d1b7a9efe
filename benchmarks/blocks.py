"""How many times fewer cycles a product with a mask of dense blocks takes when it is stored in blocks
(FuseFlow, figure 17), and how many multipliers that takes.

A BigBird mask of aligned blocks, times a dense matrix, in the simulator: without blocks, in blocks, and with
as many lanes as a block has rows. `per multiplier` is the speed-up over the multipliers.

Usage, from the repository's root: python -m benchmarks.blocks [--size N] [--width N] [--blocks 4,8,16]
[--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import bind, follow, parser, report
from samhw.frontend import parse
from samhw.numerics import value_type
from samhw.running.inputs import load_inputs
from samhw.schedule import Schedule
from samhw.sim import simulate_regions, total_cycles
from samhw.tensors import random_tensor
from samhw.tensors.generate import bigbird_mask
from samhw.workload import Workload, compile_workload

TEXT = """
tensor M[i, k] : csr
tensor X[k, j] : dense
T[i, j] = M[i, k] * X[k, j]    order i, k, j
"""


def workload(size: int, width: int, block: int) -> Workload:
    """The product with a mask of that block."""
    mask = bigbird_mask(size, block, seed=0)
    dense = random_tensor((size, width), "dense", density=1, seed=1, low=-4, high=4)
    return bind(parse(TEXT, "masked"), {"M": mask, "X": dense})


def cycles(given: Workload, schedule: Schedule) -> int:
    """Those of a run in the simulator."""
    compiled = compile_workload(given, schedule, value=value_type("i32"))
    words = load_inputs(compiled.program, compiled.design, given.tensors, compiled.recipes)
    results = simulate_regions(compiled.design, compiled.arch, *words)
    return total_cycles([result.cycles for result in results])


def rows(size: int, width: int, blocks: Sequence[int]) -> Iterator[dict[str, Any]]:
    """For each size of blocks a row without them, one with them, and one with lanes."""
    for block in blocks:
        given = workload(size, width, block)
        ways = {
            "csr": (Schedule(), 1),
            "blocks": (Schedule(blocks=dict.fromkeys("ikj", block)), block**3),
            "lanes": (Schedule(lanes={"i": block}), block),
        }
        plain = 0
        for name, (schedule, multipliers) in ways.items():
            found = cycles(given, schedule)
            plain = plain or found
            yield {
                "block": block,
                "stored as": name,
                "cycles": found,
                "speed-up": round(plain / found, 1),
                "multipliers": multipliers,
                "per multiplier": round(plain / found / multipliers, 3),
            }


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--size", type=int, default=1024)
    options.add_argument("--width", type=int, default=64)
    options.add_argument("--blocks", default="4,8,16")
    given = options.parse_args(arguments)
    found = list(follow(rows(given.size, given.width, [*map(int, given.blocks.split(","))])))
    report("a masked product in blocks", found, given.json)


if __name__ == "__main__":
    main()
