"""1/x and 1/sqrt(x)."""

from amaranth.hdl import Const, Mux, Value

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import working
from samhw.graph.numerics.reciprocal import reciprocal_table, root_table
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.piecewise import evaluate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["reciprocal", "reciprocal_root"]


def reciprocal(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """1/a."""
    x = p.keep(unpack(p.m, f, a))
    value = evaluate(p, reciprocal_table(f), p[x].significand[:-1])
    # Of 1/1 the table gives what is below it or, in bf16, one itself, which is cut to that.
    fraction = working(f)
    below_one = Mux(p[value][fraction:].any(), (1 << fraction) - 1, p[value][:fraction])
    word = p.round(
        f,
        sign=p[x].sign,
        exponent=2 * f.bias - 1 - p[x].exponent,
        significand=below_one,
        extra=fraction - 1 - f.mantissa,
    )
    return choose(f, p[word], sign=p[x].sign, zero=p[x].infinite, infinite=p[x].zero, nan=p[x].nan)


def reciprocal_root(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """1/sqrt(a)."""
    x = p.keep(unpack(p.m, f, a))
    # The bias is odd.
    odd = ~p[x].exponent[0]
    exponent = p.keep(f.bias - 1 - ((p[x].exponent - f.bias) >> 1))
    value = evaluate(p, root_table(f), p[x].significand[:-1], group=odd)
    word = p.round(
        f,
        sign=Const(0),
        exponent=p[exponent],
        significand=p[value],
        extra=working(f) - 1 - f.mantissa,
    )
    nan = p[x].nan | (p[x].sign & ~p[x].zero)
    return choose(f, p[word], sign=p[x].sign, zero=p[x].infinite, infinite=p[x].zero, nan=nan)
