"""The functions of expressions in Python, element by element: ``relu(T[i, j] + b[j])``.

They take expressions and numbers. What they do at the edges of their domains is said in docs/numerics.md.
`reshape` and `concat` move whole tensors; `cumsum` and its kin, and `recur`, run along an index. They stand
alone on the right side. `clamp` and `wrap` take a computed index.
"""

from samhw.graph.numerics import ValueType, value_type
from samhw.lang.expr import Access, Call, Concat, Operand, Recurrence, Reshape, RunningReduction, as_expr
from samhw.lang.index import ComputedIndex, LinearIndex
from samhw.lang.python_form import Index

# `max`, `min` and `abs` have the names that they have in the text, and hide Python's own in this module only.
__all__ = [
    "abs",
    "before",
    "clamp",
    "concat",
    "cos",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "eq",
    "exp",
    "f8e4m3",
    "f8e5m2",
    "gelu",
    "le",
    "leaky_relu",
    "log",
    "lt",
    "max",
    "min",
    "reciprocal",
    "recur",
    "relu",
    "reshape",
    "rint",
    "round",
    "rsqrt",
    "scale",
    "select",
    "sigmoid",
    "silu",
    "sin",
    "sqrt",
    "tanh",
    "to",
    "wrap",
]


def _call(function: str, *arguments: Operand) -> Call:
    return Call(function, tuple(map(as_expr, arguments)))


def abs(x: Operand) -> Call:
    """The magnitude of x."""
    return _call("abs", x)


def relu(x: Operand) -> Call:
    """x, or 0 where x is negative."""
    return _call("relu", x)


def leaky_relu(x: Operand, slope: float) -> Call:
    """x, or ``slope * x`` where x is negative. The slope is a number."""
    return _call("leaky_relu", x, slope)


def gelu(x: Operand) -> Call:
    """x times the normal distribution's probability of less than x."""
    return _call("gelu", x)


def silu(x: Operand) -> Call:
    """x times sigmoid(x)."""
    return _call("silu", x)


def sigmoid(x: Operand) -> Call:
    """1 / (1 + exp(-x))."""
    return _call("sigmoid", x)


def tanh(x: Operand) -> Call:
    """The hyperbolic tangent of x."""
    return _call("tanh", x)


def exp(x: Operand) -> Call:
    """e to the power of x."""
    return _call("exp", x)


def log(x: Operand) -> Call:
    """The natural logarithm of x."""
    return _call("log", x)


def rint(x: Operand) -> Call:
    """The whole number nearest to x; of two, the even one."""
    return _call("rint", x)


def round(x: Operand) -> Call:
    """The same."""
    return rint(x)


def to(kind: ValueType | str, x: Operand) -> Call:
    """x in another type, rounded to nearest, ties to even."""
    return Call("to", (as_expr(x),), value_type(kind) if isinstance(kind, str) else kind)


def scale(x: Operand, m: Operand, s: Operand, z: Operand | None = None) -> Call:
    """The integer nearest to ``x * m / 2**s``, ties to even, plus z; what does not fit the type of the result
    becomes the nearest number that does."""
    return _call("scale", x, m, s, *(() if z is None else (z,)))


def f8e4m3(x: Operand) -> Call:
    """The number of eight bits, three of them for the mantissa, that is nearest to x, or NaN."""
    return _call("f8e4m3", x)


def f8e5m2(x: Operand) -> Call:
    """The number of eight bits, two of them for the mantissa, that is nearest to x, or infinite."""
    return _call("f8e5m2", x)


def sin(x: Operand) -> Call:
    """The sine of x radians."""
    return _call("sin", x)


def cos(x: Operand) -> Call:
    """The cosine of x radians."""
    return _call("cos", x)


def sqrt(x: Operand) -> Call:
    """The square root of x."""
    return _call("sqrt", x)


def rsqrt(x: Operand) -> Call:
    """1 / sqrt(x)."""
    return _call("rsqrt", x)


def reciprocal(x: Operand) -> Call:
    """1 / x."""
    return _call("reciprocal", x)


def max(a: Operand, b: Operand) -> Call:
    """The greater one of a and b."""
    return _call("max", a, b)


def min(a: Operand, b: Operand) -> Call:
    """The lesser one of a and b."""
    return _call("min", a, b)


def lt(a: Operand, b: Operand) -> Call:
    """1 where a is less than b, else 0."""
    return _call("lt", a, b)


def le(a: Operand, b: Operand) -> Call:
    """1 where a is less than or equal to b, else 0."""
    return _call("le", a, b)


def eq(a: Operand, b: Operand) -> Call:
    """1 where a and b are equal, else 0."""
    return _call("eq", a, b)


def select(condition: Operand, a: Operand, b: Operand) -> Call:
    """a where the condition is not zero, else b."""
    return _call("select", condition, a, b)


def reshape(tensor: Access) -> Reshape:
    """All elements of a dense tensor in row-major order, for a tensor of another shape."""
    return Reshape(tensor)


def concat(index: Index, *tensors: Access) -> Concat:
    """Tensors one after the other along `index`; the other indices are those of the result."""
    return Concat(index.name, tensors)


def cumsum(index: Index, x: Operand, *, exclusive: bool = False) -> RunningReduction:
    """At each coordinate of `index` the sum of x up to it, or if `exclusive`, of what is before it."""
    return RunningReduction("sum", index.name, as_expr(x), exclusive)


def cumprod(index: Index, x: Operand, *, exclusive: bool = False) -> RunningReduction:
    """At each coordinate of `index` the product of x up to it, or if `exclusive`, of what is before it."""
    return RunningReduction("prod", index.name, as_expr(x), exclusive)


def cummax(index: Index, x: Operand, *, exclusive: bool = False) -> RunningReduction:
    """At each coordinate of `index` the greatest x up to it, or if `exclusive`, before it."""
    return RunningReduction("max", index.name, as_expr(x), exclusive)


def cummin(index: Index, x: Operand, *, exclusive: bool = False) -> RunningReduction:
    """At each coordinate of `index` the least x up to it, or if `exclusive`, before it."""
    return RunningReduction("min", index.name, as_expr(x), exclusive)


def recur(index: Index, factor: Operand, x: Operand) -> Recurrence:
    """h, which at each coordinate of `index` becomes ``h * factor + x``, and at the first one x."""
    return Recurrence(index.name, as_expr(factor), as_expr(x))


def clamp(place: LinearIndex) -> ComputedIndex:
    """A computed index that stays at the first or the last coordinate where it would go beyond it:
    ``X[clamp(i - 1)]``."""
    return place.linear().reaching("clamp")


def before(steps: int) -> ComputedIndex:
    """This many steps before the first one of a scan: ``H[before(1), h] = H0[h]`` says what it starts
    from."""
    return ComputedIndex((), -steps)


def wrap(place: LinearIndex) -> ComputedIndex:
    """A computed index that goes on at the other end of its mode: ``X[wrap(i - 3)]`` rolls, and
    ``X[wrap(-i - 1)]`` turns round."""
    return place.linear().reaching("wrap")
