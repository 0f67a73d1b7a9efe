"""gelu with the exact normal distribution."""

from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics.exponential import LOG2_E
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.gaussian import tail_table
from samhw.graph.numerics.piecewise import constant, working
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.exponential import exp2
from samhw.rtl.units.functions.piecewise import evaluate, locate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["gelu"]

_SQUARE = 36
"""The most bits of x**2 that are kept."""


def _half_square_log2_e(p: Pipeline, f: FloatFormat, x: data.View) -> Signal:
    """x**2 / 2 * log2(e) with `working(f)` fraction bits, for |x| < 16; kept.

    Args:
        x: a number that was taken apart, kept.
    """
    cut = max(2 * f.mantissa + 2 - _SQUARE, 0)
    # Below 16 the shift is at least `nearest`.
    nearest = 2 * f.mantissa - cut - 12
    distance = p.keep((f.bias + 3 - p[x].exponent)[: f.exponent_bits])
    square = p.multiply(p[x].significand, p[x].significand)
    factor = Const(constant(LOG2_E / 2, working(f) + 6))
    product = p.multiply(p[square][cut:], factor)
    return p.register(p[product][12 + nearest :] >> (p[distance] << 1))


def gelu(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """a * Phi(a), from Phi(-|a|) = exp(-a**2/2) * h(|a|) with h from a table."""
    x = p.register(unpack(p.m, f, a))
    tail = p.branch()
    group, position = locate(tail, f, x)
    h = evaluate(tail, tail_table(f), tail[position], tail[group])

    square = _half_square_log2_e(p, f, x)
    y = p.register(-p[square])
    r, n = exp2(p, f, p[y])
    p.join(tail)
    distance = p.keep(-p[n])
    product = p.multiply(p[r], p[h])

    fraction = working(f) + 5
    below = p.keep(p[product][2 * working(f) + 2 - fraction :])
    scaled = p.register(p[below] >> p[distance].as_unsigned())
    phi = p.register(Mux(p[x].sign, p[below], (1 << fraction) - p[scaled])[: fraction + 1])
    m = p.keep(Mux(p[x].sign, p[n], 0))
    exponent = p.keep(p[x].exponent + p[m] - (f.bias + f.mantissa + fraction))
    product = p.multiply(p[x].significand, p[phi])
    word = p.round_integer(f, sign=p[x].sign, value=p[product], exponent=p[exponent])

    z = p[x]
    beyond = z.exponent > f.bias + 3
    linear = Cat(z.significand[:-1], z.exponent, z.sign)
    return choose(
        f,
        Mux(beyond, linear, p[word]),
        sign=z.sign,
        zero=z.zero | (beyond & z.sign),
        nan=z.nan,
    )
