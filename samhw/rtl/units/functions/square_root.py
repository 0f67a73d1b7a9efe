"""The square root, correctly rounded."""

from amaranth.hdl import Cat, Const, Mux, Value

from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.digits import integer_root
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["square_root"]


def square_root(p: Pipeline, f: FloatFormat, a: Value, *, at_a_time: int = 2) -> Value:
    """The square root of a; stages as in `divide_integers`."""
    x = p.keep(unpack(p.m, f, a))
    # The bias is odd.
    odd = ~x.exponent[0]
    exponent = p.keep((x.exponent + f.bias) >> 1)
    scaled = Mux(odd, x.significand << 1, x.significand)
    radicand = Cat(Const(0, f.mantissa + 4), scaled[: f.mantissa + 2])
    root, rest = integer_root(p, radicand, at_a_time=at_a_time)

    significand = Cat(p[root][0] | p[rest].any(), p[root][1:])
    word = p.round(f, sign=Const(0), exponent=p[exponent], significand=significand, extra=2)
    z = p[x]
    return choose(f, p[word], sign=z.sign, zero=z.zero, infinite=z.infinite, nan=z.nan | (z.sign & ~z.zero))
