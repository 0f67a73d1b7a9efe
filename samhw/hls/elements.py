"""Where elements lie in blocks, as C++."""

from collections.abc import Sequence
from math import prod

__all__ = ["by", "element_index"]


def by(sizes: Sequence[int]) -> str:
    """Sizes as a comment has them: `2 by 3`."""
    return " by ".join(map(str, sizes))


def element_index(sizes: Sequence[int], axes: Sequence[int]) -> str:
    """Where product p has its factor in an operand with these of the axes."""
    terms, stride = [], 1
    for axis in reversed(axes):
        terms.append(f"p / {prod(sizes[axis + 1 :])} % {sizes[axis]} * {stride}")
        stride *= sizes[axis]
    return " + ".join(reversed(terms)) or "0"
