"""The natural logarithm."""

from amaranth.hdl import Cat, Const, Mux, Value

from samhw.graph.numerics.exponential import LN_2
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.logarithm import log_table
from samhw.graph.numerics.piecewise import constant, working
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.piecewise import evaluate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["log"]


def log(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """ln(a)."""
    x = p.keep(unpack(p.m, f, a))
    mantissa = x.significand[:-1]
    upper = mantissa[-1]
    e = p.keep(x.exponent - f.bias + upper)
    # s - 1 is mantissa - 2**M in the upper half, where that bit is the sign, else 2 * mantissa.
    distance = p.keep(Mux(upper, Cat(mantissa, Const(1, 1)), Cat(Const(0, 1), mantissa)).as_signed())

    far = p.branch()
    far.advance()
    multiple = far.multiply(far[e], Const(constant(LN_2, working(f) + 4)))

    quotient = evaluate(p, log_table(f), mantissa)
    near = p.multiply(p[distance], p[quotient])
    p.join(far)
    total = p.register(p[near] + (p[multiple] << f.mantissa - 3))

    negative = p.keep(p[total][-1])
    magnitude = p.register(abs(p[total]))
    fraction = working(f) + f.mantissa + 1
    word = p.round_integer(f, sign=p[negative], value=p[magnitude][: fraction + 7], exponent=Const(-fraction))
    z = p[x]
    return choose(
        f,
        p[word],
        sign=z.zero,
        infinite=z.infinite | z.zero,
        nan=z.nan | (z.sign & ~z.zero),
    )
