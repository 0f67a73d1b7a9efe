"""Logic of many conditions or bits, as trees; and comparisons without a chain of carries.

The functions on bits name their argument often: give a signal, not a long expression.
"""

from collections.abc import Callable, Iterable
from operator import and_, or_

from amaranth.hdl import Cat, Const, Mux, Value

__all__ = [
    "all_of",
    "any_of",
    "at_most",
    "chosen",
    "follows",
    "in_turn",
    "lowest_bit",
    "more_than_one",
    "place_of",
]


def all_of(conditions: Iterable[Value]) -> Value:
    """Their conjunction; true if there are none."""
    return _tree(and_, list(conditions) or [Const(1)])


def any_of(conditions: Iterable[Value]) -> Value:
    """Their disjunction, bit by bit; false if there are none."""
    return _tree(or_, list(conditions) or [Const(0)])


def chosen(values: Iterable[tuple[Value, Value]]) -> Value:
    """The value whose condition holds, of which there is at most one; else 0."""
    return any_of(Mux(condition, value, 0) for condition, value in values)


def in_turn(values: Iterable[tuple[Value, Value]]) -> Value:
    """The value whose turn it is; of a single one, itself."""
    (_, first), *others = pairs = [*values]
    return chosen(pairs) if others else first


def _tree(operation: Callable[[Value, Value], Value], values: list[Value]) -> Value:
    """A tree and not a chain, since Amaranth walks expressions by recursion, and a top level has a term for
    each of its nodes."""
    while len(values) > 1:
        pairs = [operation(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[len(values) & ~1 :]
    return values[0]


def follows(b: Value, a: Value) -> Value:
    """b = a + 1, without a carry chain: with all right below, a bit carries if a has a 1 there and b a 0."""
    return (a ^ b) == Cat(1, (a & ~b)[:-1])


def at_most(value: Value, most: int) -> Value:
    """value ≤ most, a constant. Bits from the most's highest one on are looked at as a whole: synthesis would
    compare all of them in a chain of carries."""
    width = most.bit_length()
    return ~value[width:].any() & (value[:width] <= most)


def lowest_bit(bits: Value) -> Value:
    """The index of the lowest bit that is set; of no meaning if none is."""
    if len(bits) <= 1:
        return Const(0, 0)
    low, high = _halves(bits)
    return Cat(Mux(low.any(), lowest_bit(low), lowest_bit(high)), ~low.any())


def place_of(bits: Value) -> Value:
    """The index of the only bit that is set; 0 if none is."""
    width = max(len(bits) - 1, 0).bit_length()
    return Cat(any_of(bit for place, bit in enumerate(bits) if place >> n & 1) for n in range(width))


def more_than_one(bits: Value) -> Value:
    """More than one bit is set."""
    if len(bits) <= 1:
        return Const(0, 1)
    low, high = _halves(bits)
    return more_than_one(low) | more_than_one(high) | (low.any() & high.any())


def _halves(bits: Value) -> tuple[Value, Value]:
    half = 1 << (len(bits) - 1).bit_length() - 1
    return bits[:half], bits[half:]
