"""The names of all operations, how many operands each takes, and which are zero where their operands are:
there, a sparse result stores nothing."""

from collections.abc import Callable, Sequence
from types import ModuleType

from samhw.graph.numerics.straight_line import Bits
from samhw.graph.numerics.valuetype import ARITY

__all__ = ["NARROWINGS", "OPERATIONS", "REDUCTIONS", "definitions_of", "vanishes", "vanishes_by_first"]

NARROWINGS = ("f8e4m3", "f8e5m2")
"""Operations that round to a number of another type, by the names of these types."""

OPERATIONS = {
    **ARITY,
    "abs": 1,
    "lt": 2,
    "le": 2,
    "eq": 2,
    "select": 3,
    "relu": 1,
    "leaky_relu": 2,
    "div": 2,
    "sqrt": 1,
    "reciprocal": 1,
    "rsqrt": 1,
    "exp": 1,
    "log": 1,
    "sigmoid": 1,
    "tanh": 1,
    "silu": 1,
    "gelu": 1,
    "sin": 1,
    "cos": 1,
    "rint": 1,
    **dict.fromkeys(NARROWINGS, 1),
}
"""By name. Comparisons give one or zero. `select` has the condition first, `leaky_relu` the slope last."""

_ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "max": "maximum",
    "min": "minimum",
    "neg": "negate",
    "abs": "absolute",
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "select": "where",
    "relu": "relu",
    "leaky_relu": "leaky_relu",
}
"""What all value types have: the name of its definition in `fixed_arithmetic` and in `float_arithmetic`."""

REDUCTIONS = {"sum": "add", "max": "max", "min": "min", "prod": "mul"}
"""The operation that each reduction repeats."""


def definitions_of(arithmetic: ModuleType) -> dict[str, Callable[..., Bits]]:
    """The operations that all value types have, as `fixed_arithmetic` or `float_arithmetic` defines them."""
    return {op: getattr(arithmetic, name) for op, name in _ARITHMETIC.items()}


_BY_FIRST = frozenset(
    (
        *("neg", "abs", "relu", "leaky_relu", "sqrt", "tanh", "silu", "gelu", "sin", "rint", "mul", "div"),
        *(*NARROWINGS, "to", "scale"),
    )
)
"""Operations that are zero where their first operand is; `to` and `scale` are those of programs."""
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
