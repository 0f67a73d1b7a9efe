"""How the rows of a batch hide the latency of a scan's steps: a recurrent layer with sparse weights.

    python -m benchmarks.scans

Prints for each format of the weights and each batch the cycles of a run, those for each row of a step, and
the shares of the cycles in which the busiest node fires, and in which the busiest one fires or waits for an
element that it updates again.
"""

import numpy as np

import samhw

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


def main() -> None:
    """Prints the table."""
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(16, 16)) * (rng.random((16, 16)) < 0.25) for name in "WU"}
    print("weights  batch  cycles  for each row of a step  busiest node  with its waiting")
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
            row = result.cycles / batch / 16
            print(f"{format:7}  {batch:5}  {result.cycles:6,}  {row:22.1f}  {fires:12.0%}  {works:16.0%}")


if __name__ == "__main__":
    main()
