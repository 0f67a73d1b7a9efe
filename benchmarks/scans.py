"""How the rows of a batch hide the latency of a scan's steps: a recurrent layer with sparse weights.

For each format of the weights and each batch it gives the cycles of a run, those for each row of a step, and
the shares of the cycles in which the busiest node fires, and in which the busiest one fires or waits for an
element that it updates again.

Usage, from the repository's root: python -m benchmarks.scans [--json FILE|-]
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import samhw
from benchmarks.common import parser, report

LAYER = """
value f32
tensor X[t=16, n, k=16] : dense
tensor W[k, h=16] : {format}
tensor U[g=16, h] : {format}
scan t {{
  fuse {{
    Z[n, h] = X[t, n, k] * W[k, h] + H[t-1, n, g] * U[g, h]
    H[t, n, h] = tanh(Z[n, h])
  }}
}}
"""


def rows() -> Iterator[dict[str, Any]]:
    """A row for each format and batch."""
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(16, 16)) * (rng.random((16, 16)) < 0.25) for name in "WU"}
    for format in ("csr", "csc"):
        design = samhw.compile(LAYER.format(format=format))
        for batch in (1, 2, 4, 16):
            result = design.run({"X": rng.normal(size=(16, batch, 16)), **weights})
            assert result.check().verdict == "right"
            (region,) = result.run.regions
            assert region.statistics is not None
            nodes = region.statistics.nodes.values()
            fires = max(node.firings for node in nodes) / result.cycles
            actors = [actor for node in nodes for actor in node.actors.values()]
            works = max(actor.firings + actor.spaced for actor in actors) / result.cycles
            yield {
                "weights": format,
                "batch": batch,
                "cycles": result.cycles,
                "for each row of a step": round(result.cycles / batch / 16, 1),
                "busiest node": round(fires, 2),
                "with its waiting": round(works, 2),
            }


def main() -> None:
    arguments = parser(__doc__).parse_args()
    report("a recurrent layer by its batch", list(rows()), arguments.json)


if __name__ == "__main__":
    main()
