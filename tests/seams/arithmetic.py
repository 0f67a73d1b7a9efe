"""Numbers that know how far they may be off: the value types of docs/numerics.md, as far as the order of
operations does not matter.

A number carries an error, which covers every order of factors and summands. It is zero where every order
gives the same bits, and infinite where the order decides, as after a sum that saturates on the way.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["OPEN", "Arithmetic", "Number", "UnclearError", "arithmetic"]


class UnclearError(Exception):
    """The program leaves the result open, so that nothing can be compared with it."""


@dataclass(frozen=True, slots=True)
class Number:
    """A value, how far a machine's may be from it, and how great what comes on the way may be."""

    value: float
    error: float = 0.0
    reach: float = 0.0
    """The greatest magnitude of any product or sum that some order forms in this statement."""
    operations: int = 0

    @property
    def is_zero(self) -> bool:
        """Whether it is zero for certain."""
        return self.value == 0 and self.error == 0

    @property
    def is_open(self) -> bool:
        return not math.isfinite(self.error)

    def stored(self) -> "Number":
        """As a statement leaves it, for another one to read."""
        return Number(self.value, self.error, abs(self.value))


OPEN = Number(0.0, math.inf, 0.0, 1)


def _gelu(x: float) -> float:
    return x * math.erfc(-x / math.sqrt(2)) / 2


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


SMOOTH: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sigmoid": _sigmoid,
    "tanh": math.tanh,
    "gelu": _gelu,
    "silu": lambda x: x * _sigmoid(x),
    "sin": math.sin,
    "cos": math.cos,
}
"""Functions whose results are rounded, by the operand."""

KINKED: dict[str, Callable[..., float]] = {
    "abs": abs,
    "relu": lambda x: max(x, 0),
    "max": max,
    "min": min,
}
"""Functions that are exact, and move no further than their operands do."""

JUMPING: dict[str, Callable[[float, float], bool]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
}


class Arithmetic:
    """Exact numbers in a range. The kinds of value types say how they round, and what does not fit."""

    lowest: float
    highest: float
    may_overflow = False
    """Whether a sum or product of some order left the range of integers, where the run ends in an error."""

    def literal(self, value: float) -> Number:
        """A number of the text, or of the data."""
        return self.rounded(value, 0.0, abs(value), 0)

    def converted(self, number: Number) -> Number:
        """A number of another type in this one."""
        return OPEN if number.is_open else self.rounded(number.value, number.error, abs(number.value), 0)

    def rounded(self, value: float, error: float, reach: float, operations: int) -> Number:
        """What a single operation gives, of an exact result and what its operands may be off."""
        raise NotImplementedError

    def function_error(self, value: float) -> float:
        """By how much more the result of a function may be off."""
        raise NotImplementedError

    def compute(self, value: float, error: float, reach: float, *operands: Number) -> Number:
        """An operation on operands that may have been clipped, if it has operands that have operations."""
        if any(operand.is_open for operand in operands):
            return OPEN
        deep = any(operand.operations for operand in operands)
        if deep and not self.fits(reach):
            self.overflow()
            return OPEN
        return self.rounded(value, error, reach, 1 + deep)

    def fits(self, reach: float) -> bool:
        return reach <= self.highest

    def overflow(self) -> None:
        """Some order may have left the range."""

    def add(self, a: Number, b: Number) -> Number:
        return self.compute(a.value + b.value, a.error + b.error, a.reach + b.reach, a, b)

    def negative(self, a: Number) -> Number:
        return Number(-a.value, a.error, a.reach, a.operations)

    def multiply(self, a: Number, b: Number) -> Number:
        if a.is_zero or b.is_zero:
            return Number(0.0, 0.0, 0.0, 1)
        error = abs(a.value) * b.error + abs(b.value) * a.error + a.error * b.error
        return self.compute(a.value * b.value, error, max(1, a.reach) * max(1, b.reach), a, b)

    def divide(self, a: Number, b: Number) -> Number:
        if a.is_zero:
            return Number(0.0, 0.0, 0.0, 1)
        if abs(b.value) <= 2 * b.error or b.value == 0:
            return OPEN
        value = a.value / b.value
        error = 2 * (a.error + abs(value) * b.error) / abs(b.value) + self.function_error(value)
        return self.compute(value, error, abs(value) * 2 + a.reach, a, b)

    def sum(self, terms: Sequence[Number]) -> Number:
        """Of numbers that some order of additions joins; of none it is zero."""
        if not terms:
            return Number(0.0)
        if len(terms) == 1:
            return terms[0]
        if any(term.is_open for term in terms):
            return OPEN
        total, reach = math.fsum(term.value for term in terms), _reach(terms)
        is_one_way = len({math.copysign(1, term.value) for term in terms if term.value}) < 2
        if not self.fits(reach):
            self.overflow()
            if any(term.operations for term in terms) or not is_one_way:
                return OPEN
        error = sum(term.error for term in terms)
        result = self.rounded(total, error, reach, 1)
        further = (len(terms) - 1) * self.spacing(sum(abs(term.value) + term.error for term in terms))
        is_exact = error == 0 and self.is_exact(terms)
        return result if is_exact else Number(result.value, result.error + further, reach, 1)

    def product(self, factors: Sequence[Number]) -> Number:
        """Of numbers that some order of multiplications joins: a zero may come after what is too great."""
        reach = math.prod(max(1, factor.reach) for factor in factors if not factor.is_zero)
        if len(factors) > 1 and not self.fits(reach):
            self.overflow()
            return OPEN
        result = factors[0]
        for factor in factors[1:]:
            result = self.multiply(result, factor)
        return result

    def is_exact(self, terms: Sequence[Number]) -> bool:
        """Whether all sums of some of these are numbers of the type."""
        return True

    def spacing(self, reach: float) -> float:
        """How far a sum of this magnitude may be rounded."""
        return 0.0

    def regrouped(self, reach: float, parts: Sequence[Number]) -> float:
        """How far products and sums of parts that are joined in another order may be off, where the greatest
        magnitude that they reach is this."""
        return 0.0

    def call(self, function: str, operands: Sequence[Number]) -> Number:
        if any(operand.is_open for operand in operands):
            return OPEN
        values = [operand.value for operand in operands]
        error = max(operand.error for operand in operands)
        reach = max(operand.reach for operand in operands)
        if function in KINKED:
            return self.compute(KINKED[function](*values), error, reach, *operands)
        if function in JUMPING:
            if operands[0].error + operands[1].error >= abs(values[0] - values[1]) and error:
                return OPEN
            # A type without a 1 has its greatest number for it.
            holds = min(float(JUMPING[function](*values)), self.highest)
            return Number(holds, 0.0, max(reach, 1), 1)
        if function == "leaky_relu":
            return operands[0] if values[0] >= 0 else self.multiply(operands[0], operands[1])
        if function == "select":
            if operands[0].error and operands[0].error >= abs(values[0]):
                return OPEN
            return operands[1] if values[0] else operands[2]
        if function == "rint":
            return OPEN if error else self.compute(float(round(values[0])), 0.0, reach, *operands)
        return self.smooth(function, operands[0])

    def smooth(self, function: str, operand: Number) -> Number:
        """A function that is rounded: the greatest difference from the operand's ends bounds the error."""
        compute = SMOOTH[function]
        try:
            value = compute(operand.value)
            ends = (
                [compute(operand.value + sign * operand.error) for sign in (-1, 1)] if operand.error else []
            )
        except (ValueError, OverflowError, ZeroDivisionError):
            return OPEN
        spread = 2 * max((abs(end - value) for end in ends), default=0.0)
        error = spread + self.function_error(value)
        return self.compute(value, error, max(operand.reach, abs(value)), operand)


def _reach(terms: Sequence[Number]) -> float:
    """The greatest magnitude of a sum of some terms, or of sums that common factors are taken out of."""
    if any(term.operations for term in terms):
        return sum(term.reach for term in terms)
    values = [term.value for term in terms]
    return max(sum(max(value, 0.0) for value in values), sum(max(-value, 0.0) for value in values))


class Whole(Arithmetic):
    """Integers: exact, and an error where one leaves the range."""

    def __init__(self, bits: int, is_signed: bool = True) -> None:
        half = 2.0 ** (bits - 1)
        self.lowest, self.highest = (-half, half - 1) if is_signed else (0.0, 2 * half - 1)

    def negative(self, a: Number) -> Number:
        if self.lowest == 0 and a.value:
            # Some order may leave the range below.
            self.overflow()
        return super().negative(a)

    def overflow(self) -> None:
        self.may_overflow = True

    def converted(self, number: Number) -> Number:
        if number.is_open:
            # It may be anything.
            self.overflow()
            return OPEN
        ends = [round(number.value + sign * number.error) for sign in (-1, 1)]
        if not all(self.lowest <= end <= self.highest for end in ends):
            self.overflow()
        if ends[0] != ends[1]:
            return OPEN
        return self.rounded(float(round(number.value)), 0.0, abs(number.value), 0)

    def rounded(self, value: float, error: float, reach: float, operations: int) -> Number:
        if not self.lowest <= value <= self.highest:
            self.may_overflow = True
            return OPEN
        return Number(value, error, reach, operations)

    def function_error(self, value: float) -> float:
        return 0.0


class Saturating(Arithmetic):
    """Fixed point: rounds to its unit, and stays at the ends of its range."""

    def __init__(self, bits: int, fraction: int) -> None:
        self.unit = 2.0**-fraction
        self.lowest, self.highest = -(2.0 ** (bits - 1)) * self.unit, (2.0 ** (bits - 1) - 1) * self.unit

    def rounded(self, value: float, error: float, reach: float, operations: int) -> Number:
        nearest = min(max(round(value / self.unit) * self.unit, self.lowest), self.highest)
        is_even = operations < 2 or nearest == value or not self.lowest < nearest < self.highest
        # Of several roundings, the order decides.
        return Number(nearest, error if is_even and not error else error + self.unit, reach, operations)

    def function_error(self, value: float) -> float:
        return self.unit

    def regrouped(self, reach: float, parts: Sequence[Number]) -> float:
        is_exact = all(not part.error and part.value == int(part.value) for part in parts)
        return 0.0 if is_exact else len(parts) * max(1, reach) * self.unit

    def fits(self, reach: float) -> bool:
        return reach <= self.highest


class Floating(Arithmetic):
    """Floating point of this many mantissa bits. What overflows is open."""

    def __init__(self, mantissa: int, lowest_exponent: int, highest: float) -> None:
        self.mantissa, self.tiny = mantissa, 2.0**lowest_exponent
        self.highest, self.lowest = highest, -highest

    def rounded(self, value: float, error: float, reach: float, operations: int) -> Number:
        if abs(value) + error > self.highest:
            return OPEN
        return Number(value, error + self.off(value, error), reach, operations)

    def off(self, value: float, error: float = 0.0) -> float:
        """How far the nearest number of the type is."""
        if error == 0 and self.has(value):
            return 0.0
        return (abs(value) + error) * 2.0 ** -(self.mantissa + 1) + self.tiny

    def has(self, value: float) -> bool:
        scaled = math.ldexp(math.frexp(value)[0], self.mantissa + 1)
        return value == 0 or (scaled == int(scaled) and abs(value) >= self.tiny)

    def is_exact(self, terms: Sequence[Number]) -> bool:
        reach = sum(abs(term.value) for term in terms)
        return reach < 2.0 ** (self.mantissa + 1) and all(term.value == int(term.value) for term in terms)

    def spacing(self, reach: float) -> float:
        return reach * 2.0 ** -(self.mantissa + 1) + self.tiny

    def regrouped(self, reach: float, parts: Sequence[Number]) -> float:
        is_exact = not any(part.error for part in parts) and self.is_exact([*parts, Number(reach)])
        return 0.0 if is_exact else len(parts) * self.spacing(reach)

    def function_error(self, value: float) -> float:
        return abs(value) * 2.0**-self.mantissa + self.tiny


def arithmetic(value: str) -> Arithmetic:
    """That of a value type by its name in programs."""
    if value.startswith("fixed"):
        bits, fraction = value[len("fixed<") : -1].split(",")
        return Saturating(int(bits), int(fraction))
    kinds: dict[str, Callable[[], Arithmetic]] = {
        "i8": lambda: Whole(8),
        "u8": lambda: Whole(8, is_signed=False),
        "i16": lambda: Whole(16),
        "i32": lambda: Whole(32),
        "f8e4m3": lambda: Floating(3, -9, 448.0),
        "f8e5m2": lambda: Floating(2, -16, 57344.0),
        "f16": lambda: Floating(10, -24, 65504.0),
        "bf16": lambda: Floating(7, -126, 3e38),
        "f32": lambda: Floating(23, -126, 3e38),
    }
    return kinds[value]()
