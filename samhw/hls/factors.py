"""Which factors the products of a matmul have, as C++."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from samhw.graph import Node

__all__ = ["Factors"]


class Factors(NamedTuple):
    """What a matmul multiplies and sums, as the template `matmul.hpp` has it."""

    name: str
    shape: str
    over: str
    sums: int
    terms: int
    left: str
    right: str

    @classmethod
    def of(cls, node: Node) -> "Factors":
        """Those of a node. Equal nodes have equal names."""
        shape, over, a, b = (tuple(node.params[name]) for name in ("shape", "over", "a", "b"))
        sizes = (*shape, *over)
        parts = ("_".join(map(str, numbers)) for numbers in (shape, over, a, b))
        return cls(
            name="axes_" + "__".join(parts),
            shape=_by(shape),
            over=_by(over),
            sums=prod(shape),
            terms=prod(over),
            left=_place(sizes, a),
            right=_place(sizes, b),
        )


def _by(sizes: Sequence[int]) -> str:
    return " by ".join(map(str, sizes))


def _place(sizes: Sequence[int], axes: Sequence[int]) -> str:
    """Where product p has its factor in an operand with these of the axes."""
    terms, stride = [], 1
    for axis in reversed(axes):
        terms.append(f"p / {prod(sizes[axis + 1 :])} % {sizes[axis]} * {stride}")
        stride *= sizes[axis]
    return " + ".join(reversed(terms)) or "0"
