"""Rounding to whole numbers."""

from amaranth.hdl import Cat, Const, Mux, Value

from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.units.float_parts import canonical
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["nearest_integer"]


def nearest_integer(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """The whole number nearest to a, of two the even one."""
    word = p.keep(canonical(f, a))
    exponent = a[f.mantissa : -1]
    # As many ones as bits are after the point, for numbers from one to where all are whole.
    fraction = p.keep((f.bias + f.mantissa - exponent)[: len(Const(f.mantissa))])
    behind = p.register(((Const(1) << fraction) - 1)[: f.width - 1])
    size, below_half = p[word][:-1], p[behind] >> 1
    half = (size & (p[behind] ^ below_half)).any()
    decides = size & (below_half | (p[behind] + 1)[: f.width - 1])
    goes_up = p.register(half & decides.any())
    size = p[word][:-1]
    # A carry out of the significand adds to the exponent.
    rounded = (size - (size & p[behind]) + Mux(p[goes_up], p[behind] + 1, 0))[: f.width - 1]
    below_one = Mux(size > f.one - f.hidden, Const(f.one, f.width - 1), 0)
    is_whole = size >= f.one + (f.mantissa << f.mantissa)
    result = Mux(size < f.one, below_one, Mux(is_whole, size, rounded))
    result = p.register(Cat(result, p[word][-1]))
    return p[result]
