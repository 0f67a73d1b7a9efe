"""Attention as it is written, and as one pass: cycles, the deepest channel, and what the check says.

    python -m benchmarks.cascades [--positions 256 --queries 256] [--json FILE]

A query takes as many cycles whatever the others are, so that of long sequences some queries are enough.
"""

from typing import Any

import numpy as np

from benchmarks.common import parser, report
from samhw import compile
from samhw.lang import load_cascade

SIZES: tuple[tuple[int, int], ...] = ((256, 256), (1024, 64))
"""Positions, and queries among them."""
WIDTH = 64


def row(positions: int, queries: int, cascade: str) -> dict[str, Any]:
    """What random queries, keys and values take."""
    rng = np.random.default_rng(0)
    arrays = {name: rng.normal(size=(positions, WIDTH)) for name in "KV"}
    arrays |= {"Q": rng.normal(size=(queries, WIDTH)), "scale": np.asarray(WIDTH**-0.5)}
    design = compile(load_cascade("attention"), schedule={"cascade": cascade})
    result = design.run(arrays)
    check = result.check()
    graphs = [region.graph for region in design.compiled.regions]
    return {
        "positions": positions,
        "queries": queries,
        "cascade": cascade,
        "regions": len(graphs),
        "cycles": result.cycles,
        "deepest channel": max(channel.depth for graph in graphs for channel in graph.channels),
        "nodes": sum(len(graph.nodes) for graph in graphs),
        "error": f"{check.max_abs_error:.1e}",
        "bound": f"{check.bound:.1e}",
        "result": str(check.verdict),
    }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--positions", type=int, help="of one sequence, instead of those of the page")
    options.add_argument("--queries", type=int, help="of it; by default all")
    arguments = options.parse_args()
    sizes = SIZES
    if arguments.positions:
        sizes = ((arguments.positions, arguments.queries or arguments.positions),)
    rows = [row(*size, cascade) for size in sizes for cascade in ("off", "rescaled")]
    report("attention", rows, arguments.json)


if __name__ == "__main__":
    main()
