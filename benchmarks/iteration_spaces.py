"""A graph layer relu(A X W + b) unfused, rewritten by hand for a compiler that fuses single expressions in
global iteration spaces (the Custard and Stardust baseline), and fused (FuseFlow figure 4b).

Such a compiler cannot fuse the nonlinear function. Either it takes all of A X W + b as one expression, or A X
and what follows as two. The order is i, k, f, h in all schedules. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.iteration_spaces [--nodes N ...] [--density D]
[--features F] [--hidden H] [--json FILE|-]
"""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.common import bind, follow, measure, parser, report
from samhw.choices.schedule import Schedule
from samhw.lang import model_data, parse
from samhw.tensors.generate import power_law_graph

DECLARATIONS = """
tensor A[i, k] : csr
tensor X[k, f] : csr
tensor W1[f, h] : dense
tensor b1[h] : dense
"""

LAYER = """
tensor T[i, f] : csr
fuse {
  T[i, f] = A[i, k] * X[k, f]      order i, k, f
  U[i, h] = T[i, f] * W1[f, h]     order i, f, h
  Z[i, h] = U[i, h] + b1[h]        order i, h
  H[i, h] = relu(Z[i, h])          order i, h
}
"""

ONE_EXPRESSION = """
Z[i, h] = A[i, k] * X[k, f] * W1[f, h] + b1[h]    order i, k, f, h
H[i, h] = relu(Z[i, h])                           order i, h
"""

TWO_EXPRESSIONS = """
tensor T[i, f] : csr
T[i, f] = A[i, k] * X[k, f]              order i, k, f
Z[i, h] = T[i, f] * W1[f, h] + b1[h]     order i, f, h
H[i, h] = relu(Z[i, h])                  order i, h
"""

SCHEDULES = {
    "unfused": (LAYER, Schedule(fuse="none")),
    "one expression, global": (ONE_EXPRESSION, Schedule(fuse="none", iteration="global")),
    "one expression, factored": (ONE_EXPRESSION, Schedule(fuse="none")),
    "two expressions, global": (TWO_EXPRESSIONS, Schedule(fuse="none", iteration="global")),
    "fused, global": (LAYER, Schedule(fuse="partial", iteration="global")),
    "fused, factored": (LAYER, Schedule(fuse="partial")),
}


def rows(nodes: Sequence[int], density: float, features: int, hidden: int) -> Iterator[dict[str, Any]]:
    """A row for each graph and schedule; "speed-up" is that over the unfused layer."""
    for n in nodes:
        graph = power_law_graph(n, density, seed=0)
        data = model_data("gcn", graph=graph, sizes={"f": features, "h": hidden})
        layer = {name: data[name] for name in ("A", "X", "W1", "b1")}
        unfused: int | None = None
        for schedule, (text, chosen) in SCHEDULES.items():
            found = measure(bind(parse(DECLARATIONS + text), layer), chosen)
            if found is None:
                continue
            unfused = unfused or found.cycles
            yield {
                "nodes": n,
                "schedule": schedule,
                "regions": found.regions,
                "cycles": found.cycles,
                "speed-up": unfused / found.cycles,
                "firings": found.firings,
                "operations": found.operations,
                "bytes": round(found.bytes_read + found.bytes_written),
            }


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, nargs="+", default=[100, 500])
    options.add_argument("--density", type=float, default=0.02)
    options.add_argument("--features", type=int, default=16)
    options.add_argument("--hidden", type=int, default=8)
    arguments = options.parse_args()
    points = rows(arguments.nodes, arguments.density, arguments.features, arguments.hidden)
    found = list(follow(points, len(arguments.nodes) * len(SCHEDULES)))
    report("iteration spaces of a graph layer", found, arguments.json)


if __name__ == "__main__":
    main()
