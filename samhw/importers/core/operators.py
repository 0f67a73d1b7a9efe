"""Operators that frameworks have in common: those of single elements, by their names in PyTorch and in ONNX;
and products."""

from collections.abc import Callable, Sequence

from samhw.importers.core.formulas import acosh, asinh, clamp, softplus
from samhw.importers.core.integer_products import contract
from samhw.importers.core.summed_products import letters
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Value
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import cos, eq, exp, le, log, lt, reciprocal, relu, sigmoid, sin, sqrt, tanh
from samhw.lang.functions import max as max_

__all__ = ["COMPARISONS", "LOGIC", "ONCE", "SEVERAL_TIMES", "Maker", "einsum", "matmul"]

Maker = Callable[..., Expr]
"""Makes the expression of an element of a result, of those of the operands."""

Table = tuple[tuple[str, str, Maker], ...]
"""The names in PyTorch's `aten`, the name in ONNX, and the expression."""

ONCE: Table = (
    ("abs", "Abs", abs_),
    ("cos", "Cos", cos),
    ("exp", "Exp", exp),
    ("log", "Log", log),
    ("neg", "Neg", lambda x: -x),
    ("reciprocal", "Reciprocal", reciprocal),
    ("relu", "Relu", relu),
    ("sigmoid", "Sigmoid", sigmoid),
    ("sin", "Sin", sin),
    ("sqrt", "Sqrt", sqrt),
    ("tanh", "Tanh", tanh),
)
"""The operand stands in the expression once."""

SEVERAL_TIMES: Table = (
    ("acosh", "Acosh", acosh),
    ("asinh", "Asinh", asinh),
    ("atanh", "Atanh", lambda x: log((1 + x) / (1 - x)) * 0.5),
    ("cosh", "Cosh", lambda x: (exp(x) + exp(-x)) * 0.5),
    ("hardswish", "HardSwish", lambda x: x * clamp(x + 3.0, 0, 6) * (1 / 6)),
    ("mish", "Mish", lambda x: x * tanh(softplus(x))),
    ("sign sgn", "Sign", lambda x: lt(0, x) - lt(x, 0)),
    ("sinh", "Sinh", lambda x: (exp(x) - exp(-x)) * 0.5),
    ("softsign", "Softsign", lambda x: x / (1 + abs_(x))),
    ("tan", "Tan", lambda x: sin(x) / cos(x)),
)
"""It stands there several times, and so is a tensor of its own."""

COMPARISONS: Table = (
    ("eq", "Equal", eq),
    ("ge", "GreaterOrEqual", lambda a, b: le(b, a)),
    ("gt", "Greater", lambda a, b: lt(b, a)),
    ("le", "LessOrEqual", le),
    ("lt", "Less", lt),
)
"""They give conditions."""

LOGIC: dict[str, Maker] = {
    "and": lambda a, b: a * b,
    "not": lambda a: eq(a, 0),
    "or": max_,
    "xor": lambda a, b: 1 - eq(a, b),
}
"""Of conditions, by the word that all names have."""


def matmul(tensors: Tensors, a: Value, b: Value) -> Value:
    """The product of matrices, or vectors, for each point of the other modes, which broadcast."""
    ranks = len(a.modes), len(b.modes)
    batch = letters(max(0, max(ranks) - 2), "A")
    row, column = ("i" if ranks[0] > 1 else ""), ("j" if ranks[1] > 1 else "")
    left, right = (batch[len(batch) - max(0, rank - 2) :] for rank in ranks)
    return contract(tensors, f"{left}{row}k,{right}k{column}->{batch}{row}{column}", a, b)


def einsum(
    tensors: Tensors,
    equation: str,
    operands: Sequence[Value],
    diagonal: Callable[[Value, int, int], Value],
) -> Value:
    """What NumPy's equation says, with dots and letters that stand twice in an operand.

    Args:
        diagonal: makes a last mode of the diagonal of two.
    """
    parts, output = _explicit(equation.replace(" ", ""), [len(x.modes) for x in operands])
    values = list(operands)
    for n, part in enumerate(parts):
        while len(set(part)) < len(part):
            letter = max(part, key=part.count)
            one = part.index(letter)
            other = part.index(letter, one + 1)
            values[n] = diagonal(values[n], one, other)
            part = f"{part[:one]}{part[one + 1 : other]}{part[other + 1 :]}{letter}"
        parts[n] = part
    return contract(tensors, f"{','.join(parts)}->{output}", *values)


def _explicit(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand, and of the result, without dots."""
    inputs, arrow, output = equation.partition("->")
    parts = inputs.split(",")
    free = [letter for letter in letters(26, "A") + letters(26) if letter not in equation]
    hidden = [rank - len(part) + 3 for part, rank in zip(parts, ranks, strict=True)]
    dots = "".join(
        free[: max((n for n, part in zip(hidden, parts, strict=True) if "..." in part), default=0)]
    )
    parts = [part.replace("...", dots[len(dots) - n :]) for part, n in zip(parts, hidden, strict=True)]
    if arrow:
        return parts, output.replace("...", dots)
    every = "".join(parts)
    return parts, dots + "".join(sorted(x for x in set(every) if every.count(x) == 1 and x not in dots))
