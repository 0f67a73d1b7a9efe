"""Which operations are zero where their operands are: there, a sparse result stores nothing."""

from collections.abc import Sequence

from samhw.graph.numerics.operations import NARROWINGS

__all__ = ["vanishes", "vanishes_by_first"]

_BY_FIRST = frozenset(NARROWINGS) | frozenset(
    ("neg", "abs", "relu", "leaky_relu", "sqrt", "tanh", "silu", "gelu", "sin", "rint", "mul", "div")
)
"""Operations that are zero where their first operand is."""
_BY_ALL = frozenset(("add", "sub", "max", "min", "lt", "select"))
"""Operations that are zero where all of their operands are."""


def vanishes(operation: str, operands: Sequence[int | float | None]) -> bool:
    """Whether an operation is zero wherever each operand is zero that is not a number of the program's text.

    Args:
        operation: a function of expressions, or `neg`, `add`, `sub`, `mul`, `div`.
        operands: the numbers among the operands, None for the others.
    """
    if vanishes_by_first(operation):
        return operands[0] is None or operands[0] == 0
    if operation not in _BY_ALL:
        return False
    numbers = [number for number in operands if number is not None]
    if not numbers:
        return True
    match operation:
        case "max":
            return max(numbers) <= 0
        case "min":
            return min(numbers) >= 0
        case "select":
            condition, a, b = operands
            return not (a if condition else b)
        case _:
            return all(number == 0 for number in numbers)


def vanishes_by_first(operation: str) -> bool:
    """Whether an operation is zero wherever its first operand is."""
    return operation in _BY_FIRST
