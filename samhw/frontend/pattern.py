"""Where a statement's result may be stored, from where its operands are."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from samhw.frontend.dense import Array, Domain, sum_of_products

__all__ = ["ZERO_PRESERVING", "Pattern"]

ZERO_PRESERVING = frozenset(
    ("abs", "relu", "leaky_relu", "gelu", "silu", "tanh", "sqrt", "max", "min", "lt", "select")
)
"""The functions that are zero where all of their arguments are, `leaky_relu` whatever its slope."""


class Pattern(Domain):
    """Booleans: true where there is something. Nothing cancels, so the result is what a sum may fill.

    The number zero is nothing, and so is its product with anything: what computes one drops the zeros. A
    maximum or minimum is something wherever it sees a point, even if it sees zeros only.
    """

    def number(self, value: int | float) -> Array:
        return np.asarray(value != 0)

    def add(self, a: Array, b: Array) -> Array:
        return a | b

    def negate(self, a: Array) -> Array:
        return a

    def contract(
        self, factors: Sequence[Array], divisors: Sequence[Array], mask: Array | None, axes: tuple[int, ...]
    ) -> Array:
        if mask is not None:
            factors = [*factors, mask]
        # As numbers, since the sum of booleans is slow.
        return sum_of_products([factor.astype(np.float32) for factor in factors], axes) > 0

    def call(self, function: str, arguments: Sequence[Array]) -> Array:
        match function:
            case "leaky_relu":
                return arguments[0]
            case "select":
                return arguments[1] | arguments[2]
        stored = reduce(np.logical_or, arguments)
        return stored if function in ZERO_PRESERVING else np.ones_like(stored)

    def extreme(self, reduction: str, a: Array, mask: Array | None, axes: tuple[int, ...]) -> Array:
        return np.any(np.ones_like(a) if mask is None else mask, axes, keepdims=True)
