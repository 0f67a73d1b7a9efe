"""Operators that frameworks have in common: functions of numbers as expressions of those that programs have
(docs/numerics.md), by their names in PyTorch and in ONNX; samples between elements; and products."""

import math
from collections.abc import Callable, Sequence

from samhw.importers.core.integer_products import contract
from samhw.importers.core.summed_products import letters
from samhw.importers.core.tensors import Tensors
from samhw.importers.core.value import Value
from samhw.lang.expr import Expr
from samhw.lang.functions import abs as abs_
from samhw.lang.functions import (
    cos,
    eq,
    exp,
    gelu,
    le,
    log,
    lt,
    reciprocal,
    relu,
    rint,
    select,
    sigmoid,
    sin,
    sqrt,
    tanh,
)
from samhw.lang.functions import max as max_
from samhw.lang.functions import min as min_

__all__ = [
    "ARCSINE",
    "ARCTANGENT",
    "COMPARISONS",
    "LOGIC",
    "ONCE",
    "SEVERAL_TIMES",
    "Maker",
    "acosh",
    "asinh",
    "clamp",
    "cubic_weight",
    "einsum",
    "elu",
    "error_function",
    "gelu_of",
    "linear_weight",
    "matmul",
    "nearest_weight",
    "odd",
    "powered",
    "sampled",
    "sampled_place",
    "sinc",
    "softplus",
]

ARCSINE = (1.0, 0.1666665764, 0.07500571381, 0.04450870947, 0.0318571891, 0.01429525532, 0.03767713931)
"""asin(t) / t by powers of t^2, for t up to 1/2: the polynomial that is equal at Chebyshev's nodes; it is off
by 3e-10 of it."""

ARCTANGENT = (
    *(0.9999999972, -0.3333327629, 0.1999807528, -0.1426001609, 0.1093234151, -0.08349724997),
    *(0.05708955633, -0.03035186511, 0.0104876494, -0.00170117009),
)
"""atan(t) / t by powers of t^2, for t up to 1, likewise; it is off by 3e-9 of it."""


def odd(coefficients: Sequence[float], t: Expr) -> Expr:
    """t times a polynomial of its square, by Horner's rule."""
    square = t * t
    made: Expr = square * coefficients[-1]
    for factor in coefficients[-2:0:-1]:
        made = (made + factor) * square
    return t * (made + coefficients[0])


def powered(x: Expr, power: int) -> Expr:
    """x to the power of a whole number other than 0, by products."""
    made = x
    for _ in range(abs(power) - 1):
        made = made * x
    return made if power > 0 else reciprocal(made)


_SOFT_END = 20.0
"""From where on log(1 + exp(x)) is x, to less than f32 tells apart."""


def softplus(x: Expr, beta: float = 1.0, threshold: float = 20.0) -> Expr:
    """log(1 + exp(beta x)) / beta, without an exponential that overflows; x itself above the threshold."""
    scaled = x if beta == 1 else x * beta
    made: Expr = max_(scaled, 0) + log(1 + exp(-abs_(scaled)))
    made = made if beta == 1 else made * (1 / beta)
    return made if threshold >= _SOFT_END else select(lt(threshold, scaled), x, made)


def clamp(x: Expr, least: float | None = None, greatest: float | None = None) -> Expr:
    made = x if least in (None, -math.inf) else (relu(x) if least == 0 else max_(x, least))
    return made if greatest in (None, math.inf) else min_(made, greatest)


def elu(x: Expr, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Expr:
    low = exp(min_(x, 0) * input_scale) - 1
    made = relu(x) + low * alpha
    return made if scale == 1 else made * scale


def sinc(x: Expr) -> Expr:
    angle = x * math.pi
    return select(eq(x, 0), 1, sin(angle) / angle)


_GREAT = 1e9
"""From where on 1 is nothing beside the square, in any type."""


def asinh(x: Expr) -> Expr:
    """Of the magnitude: of a negative number the sum would cancel. The square of a great one overflows."""
    size = abs_(x)
    found = select(lt(_GREAT, size), log(size) + math.log(2), log(size + sqrt(size * size + 1)))
    return select(lt(x, 0), -found, found)


def acosh(x: Expr) -> Expr:
    """log(x + sqrt(x^2 - 1)), where nothing overflows and nothing cancels."""
    share = reciprocal(x)
    return log(x) + log(1 + sqrt((1 - share) * (1 + share)))


def error_function(x: Expr, *, rest: bool) -> Expr:
    """erf(x), or 1 - erf(x): gelu(s) / s is the normal distribution's probability of less than s."""
    # Beyond that, infinities included, it is 1 or -1 in any type.
    s = max_(min_(x, 16), -16) * math.sqrt(2)
    below = gelu(s) / select(eq(x, 0), 1, s)
    return select(eq(x, 0), 1, 2 - below * 2) if rest else select(eq(x, 0), 0, below * 2 - 1)


def gelu_of(x: Expr, approximate: str = "none") -> Expr:
    """By the normal distribution, or by its approximation with tanh."""
    if approximate == "none":
        return gelu(x)
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (1 + tanh(inner))


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


# Samples of images at places that a network computes: along each dimension every element has a weight, most
# of them zero, and a sample is the sum of the elements times their weights.


def linear_weight(place: Expr, number: Expr) -> Expr:
    """1 at an element, and falling to 0 at its neighbours."""
    return relu(1 - abs_(place - number))


def nearest_weight(place: Expr, number: Expr) -> Expr:
    return eq(rint(place), number)


def cubic_weight(place: Expr, number: Expr) -> Expr:
    """That of Keys, with -3/4, of the four elements around a place."""
    a, far = -0.75, abs_(place - number)
    near = ((a + 2) * far - (a + 3)) * far * far + 1
    return select(lt(far, 1), near, select(lt(far, 2), ((a * far - 5 * a) * far + 8 * a) * far - 4 * a, 0))


def sampled_place(place: Expr, size: int, around: str, *, align_corners: bool) -> Expr:
    """A place between -1 and 1 as one among `size` elements, counted from 0. The corners are the middles of
    the outermost elements, or their outer edges; what lies outside is pulled to the `border`, mirrored at the
    corners (`reflection`), or stays there (`zeros`)."""
    span, first = (size - 1, 0.0) if align_corners else (size, -0.5)
    found: Expr = place * (span / 2) + (span / 2 + first)
    if around == "reflection":
        behind = found - first
        found = abs_(behind - rint(behind * (0.5 / span)) * (2 * span)) + first if span else found * 0
    return min_(max_(found, 0), size - 1) if around in ("border", "reflection") else found


def sampled(tensors: Tensors, x: Value, weights: Sequence[Value]) -> Value:
    """x of batch, channels and some dimensions, and for each of these the weights of its elements, of batch,
    the samples' dimensions and elements."""
    own, out = "xyz"[: len(weights)], "abd"[: len(weights)]
    inputs = ",".join([f"nc{own}", *(f"n{out}{letter}" for letter in own)])
    return contract(tensors, f"{inputs}->nc{out}", x, *weights)


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
