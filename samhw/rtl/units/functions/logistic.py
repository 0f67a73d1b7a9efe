"""sigmoid and silu, from exp(-|x|) and a reciprocal."""

from amaranth.hdl import Const, Mux, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import working
from samhw.graph.numerics.reciprocal import reciprocal_table
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.exponential import exp2, times_log2_e
from samhw.rtl.units.functions.piecewise import evaluate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["sigmoid", "silu"]


def _logistic(p: Pipeline, f: FloatFormat, x: data.View) -> tuple[Signal, Signal]:
    """1/(1 + exp(-x)) as (v, m): v * 2**m, v below 2 with `working(f)` fraction bits; kept.

    Args:
        x: a number that was taken apart, kept.
    """
    fraction = working(f)
    magnitude = times_log2_e(p, f, x)
    y = p.register(-p[magnitude])
    distance = p.keep(-p[y][fraction:].as_signed())
    r, n = exp2(p, f, p[y])

    # 1 + exp(-|x|) without its leading one; where it is 2, what is below.
    exponential = p[r] >> p[distance].as_unsigned()
    position = p.register(Mux(exponential[fraction], (1 << fraction) - 1, exponential[:fraction]))
    i = evaluate(p, reciprocal_table(f), p[position])
    product = p.multiply(p[r], p[i])
    v = p.keep(Mux(p[x].sign, p[product][fraction:], p[i]))
    m = p.keep(Mux(p[x].sign, p[n], 0))
    return v, m


def sigmoid(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """1 / (1 + exp(-a))."""
    x = p.register(unpack(p.m, f, a))
    v, m = _logistic(p, f, x)
    p.advance()
    word = p.round_integer(f, sign=Const(0), value=p[v], exponent=p[m] - working(f))
    z = p[x]
    half = f.one - f.hidden
    word = Mux(z.zero, half, Mux(z.infinite, f.one, p[word]))
    return choose(f, word, sign=Const(0), zero=z.infinite & z.sign, nan=z.nan)


def silu(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """a * sigmoid(a)."""
    x = p.register(unpack(p.m, f, a))
    v, m = _logistic(p, f, x)
    p.advance()
    exponent = p.keep(p[x].exponent + p[m] - (f.bias + f.mantissa + working(f)))
    product = p.multiply(p[x].significand, p[v])
    word = p.round_integer(f, sign=p[x].sign, value=p[product], exponent=p[exponent])
    z = p[x]
    zero = z.zero | (z.infinite & z.sign)
    return choose(f, p[word], sign=z.sign, zero=zero, infinite=z.infinite & ~z.sign, nan=z.nan)
