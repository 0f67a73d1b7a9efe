"""What an einsum is lowered for."""

from dataclasses import dataclass

__all__ = ["Goal"]


@dataclass(frozen=True)
class Goal:
    """What the values are: a result, an intermediate or the operand of a reduction.

    Attributes:
        name: for scanners that stand for it.
        dense: the indices of which a result stores every coordinate.
    """

    name: str
    dense: frozenset[str] = frozenset()
