"""The nested matrix product D = A X W of a graph layer in every order of its four indices, on the karate club
(FuseFlow figure 18).

Every operand and the result are stored in the mode order that suits the order, so that none is refused for
the storage of a tensor. The product is written in three ways: as one expression, whose sums the compiler
places, and as two fused statements with either bracketing. Cycles are given as a part of those of the worst
order of all. Every result is checked against NumPy.

Usage, from the repository's root: python -m benchmarks.order_sweep [--features F] [--hidden H]
[--json FILE|-]
"""

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from benchmarks.common import bind, follow, measure, parser, report
from samhw.app.workload import Workload
from samhw.choices.schedule import Schedule
from samhw.lang import parse
from samhw.tensors import Tensor, karate
from samhw.tensors.generate import pruned_weights

FORMATS = {"A[i,k]": "csr", "X[k,j]": "csr", "W[j,l]": "dense", "D[i,l]": "dcsr"}
"""How each tensor is stored, apart from its mode order. An outer product may leave out whole rows of D."""

FORMS = {
    "A X W": ("D[i,l] = A[i,k] * X[k,j] * W[j,l]",),
    "(A X) W": ("T[i,j] = A[i,k] * X[k,j]", "D[i,l] = T[i,j] * W[j,l]"),
    "A (X W)": ("T[k,l] = X[k,j] * W[j,l]", "D[i,l] = A[i,k] * T[k,l]"),
}


def nested_product(
    statements: tuple[str, ...], order: tuple[str, ...], data: Mapping[str, Tensor]
) -> Workload:
    """The product, every tensor stored as the order visits it."""
    formats = FORMATS | ({statements[0].split(" = ")[0]: "csr"} if len(statements) > 1 else {})
    declarations = []
    for access, name in formats.items():
        outer, inner = access[-4], access[-2]
        modes = " @ (1, 0)" if order.index(outer) > order.index(inner) else ""
        declarations.append(f"tensor {access} : {name}{modes}")
    return bind(parse("\n".join([*declarations, "fuse {", *statements, "}"])), data)


def operands(features: int, hidden: int) -> dict[str, Tensor]:
    """The karate club with random features and weights."""
    weights = np.random.default_rng(1).normal(size=(features, hidden))
    return {
        "A": karate(),
        "X": pruned_weights((34, features), 0.3, seed=0),
        "W": Tensor.from_dense(weights, "dense"),
    }


def rows(features: int, hidden: int) -> Iterator[dict[str, Any]]:
    """A row for each order, with the cycles of each form; None where streams cannot follow the order."""
    data = operands(features, hidden)
    for order in permutations("ikjl"):
        cycles = {}
        for form, statements in FORMS.items():
            found = measure(nested_product(statements, order, data), Schedule(fuse="partial", order=order))
            cycles[form] = found and found.cycles
        yield {"order": " ".join(order), **cycles}


def normalised(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows from the worst to the best, with their cycles as a part of the worst."""
    worst = max(row[form] for row in found for form in FORMS if row[form])
    parts = [
        {**row, **{f"{form}, of worst": row[form] and row[form] / worst for form in FORMS}} for row in found
    ]
    return sorted(parts, key=lambda row: -row["A X W"])


def extremes(found: list[dict[str, Any]], form: str) -> tuple[int, int]:
    """The most and the fewest cycles of a form."""
    cycles = [row[form] for row in found if row[form]]
    return max(cycles), min(cycles)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--features", type=int, default=16)
    options.add_argument("--hidden", type=int, default=8)
    arguments = options.parse_args()
    found = normalised(list(follow(rows(arguments.features, arguments.hidden), 24)))
    ratios = [f"{form} {worst / best:.1f}" for form in FORMS for worst, best in [extremes(found, form)]]
    report("worst to best order: " + ", ".join(ratios), found, arguments.json)


if __name__ == "__main__":
    main()
