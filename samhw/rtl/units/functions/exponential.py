"""Exponentials, logarithms, tanh, sigmoid and silu."""

from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics.exponential import LN_2, LOG2_E, exp2_table, tanh_table
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.logarithm import log_table
from samhw.graph.numerics.piecewise import constant, working
from samhw.graph.numerics.reciprocal import reciprocal_table
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.piecewise import evaluate, locate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["exp", "exp2", "log", "sigmoid", "silu", "tanh", "times_log2_e"]


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


# sigmoid and silu, from exp(-|x|) and a reciprocal.


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
