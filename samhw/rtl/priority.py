"""Looking for the set bits of a word, as trees of depth log2(width).

The functions name their argument often: give a signal, not a long expression.
"""

from amaranth.hdl import Cat, Const, Mux, Value

__all__ = ["lowest_bit", "more_than_one"]


def lowest_bit(bits: Value) -> Value:
    """The index of the lowest bit that is set; of no meaning if none is."""
    if len(bits) <= 1:
        return Const(0, 0)
    low, high = _halves(bits)
    return Cat(Mux(low.any(), lowest_bit(low), lowest_bit(high)), ~low.any())


def more_than_one(bits: Value) -> Value:
    """More than one bit is set."""
    if len(bits) <= 1:
        return Const(0, 1)
    low, high = _halves(bits)
    return more_than_one(low) | more_than_one(high) | (low.any() & high.any())


def _halves(bits: Value) -> tuple[Value, Value]:
    half = 1 << (len(bits) - 1).bit_length() - 1
    return bits[:half], bits[half:]
