"""tanh."""

from amaranth.hdl import Cat, Mux, Value

from samhw.graph.numerics.exponential import tanh_table
from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.locate import locate
from samhw.rtl.units.functions.piecewise import evaluate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["tanh"]


def tanh(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """tanh(a)."""
    x = p.keep(unpack(p.m, f, a))
    table = tanh_table(f)
    group, position = locate(p, f, x)
    quotient = evaluate(p, table, p[position], p[group])
    product = p.multiply(p[x].significand, p[quotient])
    exponent = p[x].exponent - (f.bias + f.mantissa + table.fraction)
    word = p.round_integer(f, sign=p[x].sign, value=p[product], exponent=exponent)
    z = p[x]
    one = Cat(Mux(z.exponent > f.bias + 3, f.one, p[word][:-1]), z.sign)
    return choose(f, one, sign=z.sign, zero=z.zero, nan=z.nan)
