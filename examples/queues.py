"""Rows of unequal length: what a queue between two products gains.

Run it with `python examples/queues.py`, or on a graph of one's own: `samhw run examples/queues.py:program
--data A=A.mtx --fuse full --queues T=16`.
"""

import numpy as np

import samhw
from samhw.lang import ProgramBuilder
from samhw.tensors import power_law_graph

p = ProgramBuilder("layer")
i, j = p.indices("i j")
k = p.index("k", 32)
h = p.index("h", 16)
A = p.tensor("A", (i, j), "csr")
X = p.tensor("X", (j, k), "dense")
W = p.tensor("W", (k, h), "dense")
T = p.tensor("T", (i, k), "dense")
Y = p.tensor("Y", (i, h), "dense")
p.assign(T[i, k], A[i, j] * X[j, k])
p.assign(Y[i, h], T[i, k] * W[k, h])
program = p.program()


def main() -> None:
    rng = np.random.default_rng(0)
    graph = power_law_graph(1000, 0.015, seed=0, skew=0.7)
    data = {"A": graph, "X": rng.normal(size=(1000, 32)), "W": rng.normal(size=(32, 16))}
    for rows in (0, 1, 4, 16, 64):
        schedule = {"fuse": "full", "queues": {"T": rows} if rows else {}}
        design = samhw.compile(program, value="f32", schedule=schedule)
        result = design.run(data)
        expected = design.estimate(data).cycles
        print(
            f"room for {rows:2} rows: about {expected:,.0f} cycles, {result.cycles:,} cycles, "
            f"{result.check().verdict}"
        )


if __name__ == "__main__":
    main()
