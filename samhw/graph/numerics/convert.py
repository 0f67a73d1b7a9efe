"""Conversion between value types."""

from samhw.graph.numerics.convert_words import fixed_to_fixed, fixed_to_float, float_to_fixed, float_to_float
from samhw.graph.numerics.fixed_format import FixedFormat
from samhw.graph.numerics.float import Float
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.integer import Fixed, Integer
from samhw.graph.numerics.lanes import Bits
from samhw.graph.numerics.valuetype import ValueType

__all__ = ["convert"]


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
