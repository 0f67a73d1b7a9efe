"""exp, and the power of two inside it that other functions use as well."""

from amaranth.hdl import Const, Mux, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics.exponential import LOG2_E, exp2_table
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import constant, working
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.piecewise import evaluate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["exp", "exp2", "times_log2_e"]


def times_log2_e(p: Pipeline, f: FloatFormat, x: data.View) -> Signal:
    """|x| * log2(e) with `working(f)` fraction bits, or 511 if |x| >= 256; kept.

    Args:
        x: a number that was taken apart, kept.
    """
    # Below 256 the shift is at least `nearest`.
    nearest = f.mantissa - 2
    distance = p.keep((f.bias + 7 - p[x].exponent)[: f.exponent_bits])
    far = p.keep(p[x].exponent > f.bias + 7)
    product = p.multiply(p[x].significand, Const(constant(LOG2_E, working(f) + 5)))
    scaled = p[product][nearest:] >> p[distance]
    return p.register(Mux(p[far], 511 << working(f), scaled))


def exp2(p: Pipeline, f: FloatFormat, y: Value) -> tuple[Signal, Signal]:
    """2**y as (r, n): r * 2**n, r in [1, 2); kept. Both y, signed, and r have `working(f)` fraction bits."""
    fraction = working(f)
    n = p.keep(y[fraction:].as_signed())
    r = evaluate(p, exp2_table(f), y[:fraction])
    return r, n


def exp(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """e**a."""
    x = p.register(unpack(p.m, f, a))
    magnitude = times_log2_e(p, f, x)
    y = p.register(Mux(p[x].sign, -p[magnitude], p[magnitude]))
    r, n = exp2(p, f, p[y])
    word = p.round(f, sign=Const(0), exponent=p[n] + f.bias, significand=p[r], extra=working(f) - f.mantissa)
    z = p[x]
    return choose(
        f,
        Mux(z.zero, f.one, p[word]),
        sign=Const(0),
        zero=z.infinite & z.sign,
        infinite=z.infinite & ~z.sign,
        nan=z.nan,
    )
