"""What integers and fixed point have beyond sums and products, against exact arithmetic and SciPy."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.graph.numerics import OVERFLOW, Fixed, Integer
from samhw.graph.numerics.operations import OPERATIONS
from tests.support.accuracy import REFERENCES

Kind = Integer | Fixed
TYPES = [
    Integer(8),
    Integer(8, is_signed=False),
    Integer(32),
    Fixed(8, 0),
    Fixed(8, 7),
    Fixed(16, 8),
    Fixed(32, 31),
]
EXACT: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "select": lambda c, a, b: a if c else b,
    "relu": lambda a: max(a, 0),
    "leaky_relu": lambda a, slope: a if a >= 0 else a * slope,
    "div": lambda a, b: a / b if b else a * 2**99,
}


def operands(kind: Kind, arity: int) -> list[np.ndarray]:
    """Every pair of small words, or pairs of edges and of random words."""
    if kind.width == 8 and arity < 3:
        return list(np.divmod(np.arange(1 << 16), 256))[:arity]
    rng = np.random.default_rng(kind.width)
    top = 1 << kind.width - 1
    edges = [0, 1, 2, 3, top - 2, top - 1, top, top + 1, 2 * top - 2, 2 * top - 1, *range(5, top, top // 3)]
    grid = [g.ravel() for g in np.meshgrid(*[edges] * arity)]
    # Words of all lengths, so that quotients are, too.
    random = rng.integers(0, 2 * top, (arity, 1000)) >> rng.integers(0, kind.width, (arity, 1000))
    random ^= rng.integers(0, 2, (arity, 1000)) * (2 * top - 1)
    return [np.concatenate(pair) for pair in zip(grid, random, strict=True)]


def expected(kind: Kind, exact: Fraction | bool) -> int:
    rounded = min(1 << kind.fraction, kind.highest) if exact is True else round(exact * (1 << kind.fraction))
    if kind.lowest <= rounded <= kind.highest:
        return rounded % (1 << kind.width)
    if not kind.saturates:
        return OVERFLOW
    return (kind.highest if rounded > 0 else kind.lowest) % (1 << kind.width)


@pytest.mark.nightly(but=15)
@pytest.mark.parametrize(
    ("kind", "op"), [(k, op) for k in TYPES for op in EXACT if op in k.operations], ids=str
)
def test_operations_are_exact(kind: Kind, op: str) -> None:
    words = operands(kind, OPERATIONS[op])
    scale = Fraction(1, 1 << kind.fraction)
    signed = [(w - ((w >> kind.width - 1 << kind.width) if kind.lowest else 0)).tolist() for w in words]
    want = [expected(kind, EXACT[op](*(x * scale for x in row))) for row in zip(*signed, strict=True)]
    assert kind.apply(op, *words).tolist() == want
    scalar = kind.scalar(op)
    assert [scalar(*row) for row in zip(*(w.tolist() for w in words), strict=True)] == want


@pytest.mark.parametrize("op", [*REFERENCES, "sqrt"])
@pytest.mark.parametrize("kind", [Fixed(8, 4), Fixed(16, 8), Fixed(16, 15), Fixed(24, 12)], ids=str)
def test_functions_of_fixed_point(kind: Fixed, op: str) -> None:
    """Nearest to the exact result, but for the little that f32 is off; zero where there is none."""
    words = np.arange(0, 1 << kind.width, 1 if kind.width <= 16 else 61)
    values = kind.decode(words)
    with np.errstate(all="ignore"):
        exact = np.sqrt(values) if op == "sqrt" else REFERENCES[op](values)
        scaled = np.where(np.isnan(exact), 0, np.ldexp(exact, kind.fraction))
    scaled = np.clip(scaled, kind.lowest, kind.highest)
    result = kind.apply(op, words)
    got = kind.decode(result) * 2.0**kind.fraction
    allowed = 0.5 + 2.0 ** (kind.width - 25)
    assert np.abs(got - scaled).max() <= allowed
    assert [kind.scalar(op)(word) for word in words[::97].tolist()] == result[::97].tolist()


def test_what_types_lack() -> None:
    with pytest.raises(InputError, match="i8 has no operation 'exp'"):
        Integer(8).apply("exp", np.array([1]))
    with pytest.raises(InputError, match="i32 has no operation 'div'"):
        Integer(32).scalar("div")
    with pytest.raises(InputError, match=r"fixed<32,16> has no operation 'exp'"):
        Fixed(32, 16).scalar("exp")


@pytest.mark.parametrize("kind", [Integer(8), Fixed(16, 8)], ids=str)
def test_shapes(kind: Kind) -> None:
    words = np.arange(6).reshape(2, 3)
    assert kind.apply("relu", words).shape == (2, 3)
    assert kind.apply("leaky_relu", words, np.array(1)).shape == (2, 3)
    assert kind.apply("abs", np.array(3)) == 3
