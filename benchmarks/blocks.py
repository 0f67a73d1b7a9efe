"""How many times fewer cycles a program with dense blocks takes when it is stored in them (FuseFlow, figure
17), and how many multipliers that takes.

In the simulator: without blocks, in blocks, and with as many lanes as a block has rows. The programs are
`product`, a mask of aligned blocks times a dense matrix; `attention`, softmax attention under it, in one
region; `layer`, relu(W X + b) with weights at the places of the mask. `per multiplier` is the speed-up over
the ratio of the multipliers.

Usage, from the repository's root: python -m benchmarks.blocks [--program product|attention|layer]
[--mask bigbird|longformer|pixelfly|random] [--size N] [--width N] [--blocks 4,8,16] [--products N]
[--plot FILE.svg] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import bind, follow, parser, report
from samhw.app.workload import Workload, compile_workload
from samhw.choices.schedule import Schedule
from samhw.graph import Graph
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.sim import simulate_regions, total_cycles
from samhw.targets.running.inputs import load_inputs
from samhw.tensors import Tensor, random_tensor
from samhw.tensors.generate import bigbird_mask, longformer_mask, pixelfly_mask

PROGRAMS = {
    "product": (
        "i32",
        """
        tensor M[i, j] : csr
        tensor X[j, d] : dense
        T[i, d] = M[i, j] * X[j, d]    order i, j, d
        """,
    ),
    "attention": (
        "f32",
        """
        tensor M[i, j] : csr
        tensor Q[i, d] : dense
        tensor K[j, d] : dense
        tensor V[j, d] : dense
        fuse {
          S[i, j] = Q[i, d] * K[j, d] where M[i, j]      order i, j, d
          m[i] max= S[i, j] where M[i, j]                order i, j
          E[i, j] = exp(S[i, j] - m[i]) where M[i, j]    order i, j
          l[i] = E[i, j]                                 order i, j
          P[i, j] = E[i, j] / l[i]                       order i, j
          O[i, d] = P[i, j] * V[j, d]                    order i, j, d
        }
        """,
    ),
    "layer": (
        "f32",
        """
        tensor M[i, j] : csr
        tensor X[j, d] : dense
        tensor b[i] : dense
        fuse {
          T[i, d] = M[i, j] * X[j, d]    order i, j, d
          Z[i, d] = T[i, d] + b[i]       order i, d
          Y[i, d] = relu(Z[i, d])        order i, d
        }
        """,
    ),
}
"""The value type of each, and its text."""


MASKS = ("bigbird", "longformer", "pixelfly", "random")

PRODUCTS = 4096
"""That a unit makes in a cycle at the most. Blocks of more than 16 rows are narrower along `d`."""

LABELS = {"blocks": "blocks of b by b", "lanes": "b lanes"}
"""What the picture calls the ways to store a mask, and to work on it."""


def mask_of(name: str, size: int, block: int) -> Tensor:
    """A mask of aligned blocks; `random` has a tenth of them."""
    if name == "random":
        some = np.random.default_rng(0).random((size // block, size // block)) < 0.1
        return Tensor.from_dense(np.kron(some, np.ones((block, block), np.int64)), "csr")
    if name == "bigbird":
        return bigbird_mask(size, block, seed=0)
    if name == "longformer":
        return longformer_mask(size, block, window=block)
    return pixelfly_mask(size, block)


def workload(program: str, mask: Tensor, width: int) -> Workload:
    """A program on a mask, and on random numbers."""
    given = parse(PROGRAMS[program][1], program)
    shapes = {"X": (mask.shape[1], width), "b": mask.shape[:1]}
    shapes |= dict.fromkeys("QKV", (mask.shape[0], width))
    tensors = {
        decl.name: random_tensor(shapes[decl.name], "dense", density=1, seed=n, low=-4, high=4)
        for n, decl in enumerate(given.inputs)
        if decl.name in shapes
    }
    return bind(given, {"M": mask, **tensors})


def multipliers(graphs: Sequence[Graph]) -> int:
    """How many products the nodes of graphs make in a cycle."""
    nodes = [node for graph in graphs for node in graph.nodes]
    return sum(
        prod((*node.params.get("shape", ()), *node.params.get("over", ())))
        for node in nodes
        if node.kind == "matmul" or node.params.get("op") == "mul"
    )


def run(given: Workload, schedule: Schedule) -> tuple[int, int]:
    """The cycles of a run in the simulator, and the multipliers of its graphs."""
    value = value_type(PROGRAMS[given.name][0])
    compiled = compile_workload(given, schedule, value=value)
    words = load_inputs(compiled.program, compiled.design, given.tensors, compiled.recipes)
    results = simulate_regions(compiled.design, compiled.arch, *words)
    cycles = total_cycles(compiled.design, [result.cycles for result in results])
    return cycles, multipliers(compiled.design.regions)


def rows(
    program: str, mask: str, size: int, width: int, blocks: Sequence[int], products: int
) -> Iterator[dict[str, Any]]:
    """For each size of blocks a row without them, one with them, and one with lanes; `products` are the most
    that a unit makes in a cycle."""
    for block in blocks:
        given = workload(program, mask_of(mask, size, block), width)
        ways = {
            "csr": Schedule(),
            "blocks": Schedule(blocks={"i": block, "j": block, "d": min(block, products // block**2)}),
            "lanes": Schedule(lanes={"i": block}),
        }
        plain, single = 0, 0
        for name, schedule in ways.items():
            found, units = run(given, schedule)
            plain, single = plain or found, single or units
            yield {
                "block": block,
                "stored as": name,
                "cycles": found,
                "speed-up": round(plain / found, 1),
                "multipliers": units,
                "per multiplier": plain / found * single / units,
            }


def plot(found: Sequence[dict[str, Any]], path: Path) -> None:
    """Speed-ups over the size of a block, and cycles times multipliers over those without blocks."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
    sizes = sorted({row["block"] for row in found})
    for way, marker in (("blocks", "o"), ("lanes", "^")):
        own = [row for row in found if row["stored as"] == way]
        own.sort(key=lambda row: row["block"])
        left.plot(sizes, [row["speed-up"] for row in own], marker=marker, label=LABELS[way])
        right.plot(sizes, [1 / row["per multiplier"] for row in own], marker=marker, label=LABELS[way])
    left.plot(sizes, sizes, ":", color="grey", label="b times as fast")
    left.set(ylabel="speed-up", yscale="log")
    right.set(ylabel="cycles times multipliers, over csr", ylim=(0, None))
    for axes in (left, right):
        axes.set(xscale="log", xlabel="b")
        axes.set_xticks(sizes, map(str, sizes))
        axes.minorticks_off()
        axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--program", choices=[*PROGRAMS], default="product")
    options.add_argument("--mask", choices=MASKS, default="bigbird")
    options.add_argument("--size", type=int, default=1024)
    options.add_argument("--width", type=int, default=64)
    options.add_argument("--blocks", default="4,8,16")
    options.add_argument(
        "--products", type=int, default=PRODUCTS, help="that a unit makes in a cycle at the most (4,096)"
    )
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw speed-ups over the size of a block")
    given = options.parse_args(arguments)
    blocks = [*map(int, given.blocks.split(","))]
    found = list(follow(rows(given.program, given.mask, given.size, given.width, blocks, given.products)))
    report(f"{given.program} under the mask {given.mask}, in blocks", found, given.json)
    if given.plot:
        plot(found, given.plot)


if __name__ == "__main__":
    main()
