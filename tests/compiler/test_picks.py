"""Sums with a single point in each row, whose coordinates are looked up, in orders that a user may give."""

import random
from contextlib import suppress
from itertools import permutations

import numpy as np
import pytest

import samhw
from samhw.errors import ScheduleError
from samhw.tensors import Tensor

TENSORS = {
    "R": "[u=3, n=4, m=4] : dense",
    "W": "[z=5, u=3] : dense",
    "P": "[b=2, n=4] : (dense, singleton)",
    "D": "[z=5, b=2, c=2] : dense",
    "B": "[z=5, b=2, c=2] : dense",
    "A": "[z=5, b=2, c=2] : dense",
}

PRODUCT = "D[z, b, c] = R[u, n, m] * W[z, u] * P[b, n] * P[c, m]"

ORDERS = [", ".join(order) for order in permutations("zbuncm")]


def run(text: str) -> None:
    """Runs a program on whole numbers and checks it."""
    rng = np.random.default_rng(2)
    places = Tensor.from_dense(np.array([[2, 0, 0, 0], [0, 0, 3, 0]]), "(dense, singleton)")
    shapes = {"R": (3, 4, 4), "W": (5, 3), "B": (5, 2, 2)}
    data = {name: rng.integers(-4, 5, shape) for name, shape in shapes.items()} | {"P": places}
    head = [f"tensor {name}{rest}" for name, rest in TENSORS.items() if f"{name}[" in text]
    design = samhw.compile("\n".join([*head, text]), permute=True)
    assert design.run({decl.name: data[decl.name] for decl in design.program.operands}).check().good


@pytest.mark.parametrize("order", ["z, b, u, n, c, m", *random.Random(4).sample(ORDERS, 30)])
def test_places_may_lie_inside_of_a_sum_that_they_are_no_factors_of(order: str) -> None:
    with suppress(ScheduleError):  # Not every order can be lowered.
        run(f"{PRODUCT} order {order}")


@pytest.mark.parametrize("fused", [False, True])
def test_a_residual_beside_a_strided_product(fused: bool) -> None:
    statements = f"{PRODUCT} order z, b, u, n, c, m\nA[z, b, c] = relu(B[z, b, c] + D[z, b, c]) order z, b, c"
    run(f"fuse {{\n{statements}\n}}" if fused else statements)


def test_what_is_copied_picks_by_places_of_its_own() -> None:
    """J is stored, and computed again at the places that Z names."""
    text = (
        "tensor t[m=3]\ntensor x[a=4]\ntensor Z[s=3]\n"
        "fuse {\n  J[a] = t[clamp(a - 1)] * x[a]\n  Z[s] = J[wrap(s + 2)]\n}\nW[a] = J[a] * 2"
    )
    result = samhw.compile(text).run(t=[3, 2, 4], x=[1, 2, -1, 2])
    assert result.tensors["J"].to_dense().tolist() == [3, 6, -2, 8]
    assert result.tensors["Z"].to_dense().tolist() == [-2, 8, 3]
    assert result.check().verdict == "right"
