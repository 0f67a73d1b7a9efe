"""How the rows of a batch hide the latency of a scan's steps: a recurrent layer with sparse weights.

    python -m benchmarks.scans

Prints for each batch the cycles of a run, those for each row of a step, and the share of the cycles in which
the busiest node fires.
"""

import numpy as np

import samhw

LAYER = """
value f32
tensor X[t=16, n, k=16] : dense
tensor W[k, h=16] : csr
tensor U[g=16, h] : csr
scan t {
  fuse {
    Z[n, h] = X[t, n, k] * W[k, h] + H[t-1, n, g] * U[g, h]
    H[t, n, h] = tanh(Z[n, h])
  }
}
"""


def main() -> None:
    """Prints the table."""
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(16, 16)) * (rng.random((16, 16)) < 0.25) for name in "WU"}
    design = samhw.compile(LAYER)
    print("batch  cycles  for each row of a step  busiest node")
    for batch in (1, 2, 4, 16):
        result = design.run({"X": rng.normal(size=(16, batch, 16)), **weights})
        assert result.check().verdict == "right"
        (region,) = result.run.regions
        assert region.statistics is not None
        busy = max(node.firings for node in region.statistics.nodes.values())
        share = busy / result.cycles
        print(f"{batch:5}  {result.cycles:6,}  {result.cycles / batch / 16:22.1f}  {share:12.0%}")


if __name__ == "__main__":
    main()
