"""Operations with the types of their operands and of their result: also those that go from one to another,
such as conversions between value types."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

from samhw.errors import InputError
from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.graph.numerics.float import Float
from samhw.graph.numerics.float_arithmetic import (
    fixed_to_fixed,
    fixed_to_float,
    float_to_fixed,
    float_to_float,
)
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.integer import Fixed, Integer
from samhw.graph.numerics.operations import OPERATIONS
from samhw.graph.numerics.straight_line import Bits, select, straight_line
from samhw.graph.numerics.valuetype import OVERFLOW, Definition, ScalarOp, ValueType, Words, apply

__all__ = [
    "ALL_OPERATIONS",
    "SCALE_MULTIPLIERS",
    "SCALE_SHIFTS",
    "WIDENING",
    "Operation",
    "convert",
    "operation",
    "widens",
]

ALL_OPERATIONS = {**OPERATIONS, "convert": 1, "scale": 3}
"""Every operation with its arity, also those whose result has a type of its own."""

WIDENING = ("add", "sub", "mul")
"""The operations whose result may be of a wider type than their operands."""

SCALE_MULTIPLIERS = range(1 << 31)
SCALE_SHIFTS = range(63)
"""What the second and the third operand of `scale` may be."""


def widens(source: ValueType, target: ValueType) -> bool:
    """Whether `WIDENING` go from one type to the other."""
    are_alike = (isinstance(source, Integer) and target == Integer(32)) or (
        isinstance(source, Float) and isinstance(target, Float)
    )
    return are_alike and source != target and holds(target, source)


def holds(target: ValueType, source: ValueType) -> bool:
    """Whether a type has all numbers of another one."""
    match _format(source), _format(target):
        case FloatFormat() as f, FloatFormat() as g:
            return g.has_all(f)
        case FixedFormat() as f, FloatFormat() as g:
            # The lowest number of those with a sign is a power of two.
            return (
                f.width - f.is_signed <= g.mantissa + 1
                and max(-source.least, source.greatest) <= target.greatest
            )
        case FixedFormat() as f, FixedFormat() as g:
            return (
                g.fraction >= f.fraction
                and target.least <= source.least
                and source.greatest <= target.greatest
            )
    return False


Constants: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Operation:
    """An operation, by `operation`. Operands are words of `source`, results words of `target`."""

    op: str
    source: ValueType
    target: ValueType
    definition: Definition

    @property
    def arity(self) -> int:
        """How many operands it takes."""
        return ALL_OPERATIONS[self.op]

    def apply(self, *operands: Words) -> Words:
        """Arrays of words in, an array of words (or `OVERFLOW`) out."""
        return apply(self.definition, *operands)

    def scalar(self, constants: Mapping[int, int] | None = None) -> ScalarOp:
        """The same on single words, for the models' inner loops.

        Args:
            constants: words of operands, by their number from 0 on, which the result no longer takes.
        """
        if not constants and self.source == self.target and self.op in self.source.operations:
            return self.source.scalar(self.op)
        return _scalar(self.op, self.source, self.target, tuple(sorted((constants or {}).items())))


def operation(op: str, source: ValueType, target: ValueType | None = None) -> Operation:
    """An operation on operands of one type, with a result of that type or of another.

    Args:
        op: any operation of the source. `add`, `sub` and `mul` may go from integers to i32, and from
            floating point to a type that has all of its numbers: the operands are converted first, which is
            exact. `convert` goes from any type to any; `scale` (a, m, s: a * m / 2**s, to nearest, ties to
            even, saturating) from i32 to an integer.

    Raises:
        InputError: if there is no such operation.
    """
    target = target or source
    return Operation(op, source, target, _definition(op, source, target))


def _definition(op: str, source: ValueType, target: ValueType) -> Definition:
    if op == "convert":
        return partial(convert, source=source, target=target)
    if op == "scale":
        if isinstance(source, Integer) and source.width == 32 and isinstance(target, Integer):
            return partial(_scale, source.format, target.format)
        raise InputError(
            f"'scale' goes from i32 to an integer, not from {source} to {target}; convert first."
        )
    definition = target.definition(op)
    if source == target:
        return definition
    if op in WIDENING and widens(source, target):
        return _on_converted(definition, source, target)
    raise InputError(
        f"{op!r} of {source} cannot give {target}; only {', '.join(WIDENING)} go to another type, of "
        "integers to i32, of floating point to one that has all of its numbers."
    )


def _on_converted(definition: Definition, source: ValueType, target: ValueType) -> Definition:
    def widened(a: Bits, b: Bits) -> Bits:
        return definition(convert(a, source, target), convert(b, source, target))

    return widened


def _scale(source: FixedFormat, target: FixedFormat, a: Bits, multiplier: Bits, shift: Bits) -> Bits:
    is_multiplier = multiplier < SCALE_MULTIPLIERS.stop
    is_shift = shift < SCALE_SHIFTS.stop
    multiplier, shift = select(is_multiplier, multiplier, 0), select(is_shift, shift, 0)
    product = source.signed(a) * multiplier
    cut = product >> shift
    twice_rest = 2 * (product - (cut << shift))
    unit = 1 << shift
    up = (twice_rest > unit) | ((twice_rest == unit) & (cut & 1 == 1))
    word = target.saturate(cut + up)
    return select(is_multiplier, select(is_shift, word, OVERFLOW), OVERFLOW)


@cache
def _scalar(op: str, source: ValueType, target: ValueType, constants: Constants) -> ScalarOp:
    definition, arity, fixed = _definition(op, source, target), ALL_OPERATIONS[op], dict(constants)
    return straight_line(_with_constants(definition, arity, fixed), arity - len(fixed))


def _with_constants(definition: Definition, arity: int, constants: Mapping[int, int]) -> Callable[..., Bits]:
    def remaining(*words: Bits) -> Bits:
        free = iter(words)
        return definition(*(constants[i] if i in constants else next(free) for i in range(arity)))

    return remaining


def convert(words: Bits, source: ValueType, target: ValueType) -> Bits:
    """The word of `target` nearest to each word of `source`, ties to even; for an array of words or for one.

    Between floating-point types infinity and NaN stay. Into an integer what is out of range, infinity and NaN
    give `OVERFLOW`; into fixed point what is out of range and infinity saturate, and NaN gives zero.
    """
    match _format(source), _format(target):
        case FloatFormat() as f, FloatFormat() as g:
            return float_to_float(f, g, words)
        case FloatFormat() as f, FixedFormat() as g:
            return float_to_fixed(f, g, words)
        case FixedFormat() as f, FloatFormat() as g:
            return fixed_to_float(f, g, words)
        case FixedFormat() as f, FixedFormat() as g:
            return fixed_to_fixed(f, g, words)


def _format(kind: ValueType) -> FixedFormat | FloatFormat:
    assert isinstance(kind, Integer | Fixed | Float)
    return kind.format
