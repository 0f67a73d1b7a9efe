"""sin and cos."""

from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.lib import data

from samhw.graph.numerics.circular import circle_table, linear_below, window_table
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import working
from samhw.rtl.logic import lowest_bit
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.piecewise import evaluate, read
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["cos", "sin"]


def _quarter_turns(p: Pipeline, f: FloatFormat, x: data.View) -> Signal:
    """|x| in quarter turns modulo 4, with 2 * `working(f)` fraction bits; kept. Below exponents of
    `linear_below` it means nothing.

    Args:
        x: a number that was taken apart, kept.
    """
    fraction, lost = working(f), f.mantissa + 1
    address = (p[x].exponent - (f.bias + linear_below(f)))[: f.exponent_bits]
    window = read(p, window_table(f), address)
    # The window's three pieces are multiplied side by side.
    start, products = p.branch(), []
    for name in ("c0", "c1", "c2"):
        beside = start.branch()
        products.append(beside.multiply(beside[x].significand, beside[window][name]))
        p.join(beside)
    high, middle, low = (p[product] for product in products)
    total = (high << 2 * fraction - lost) + (middle << fraction - lost) + (low >> lost)
    return p.register(total[: 2 * fraction + 2])


def _sine(p: Pipeline, f: FloatFormat, turns: Signal, ahead: int) -> tuple[Signal, Signal]:
    """The sine of `turns` and `ahead` quarter turns: the octant, whose leading bit is the sign, and the word
    without it; kept.

    Args:
        turns: from `_quarter_turns`.
    """
    fraction = working(f)
    octant = p.keep((p[turns][-3:] + 2 * ahead)[:3])
    mirrored, by_cosine = octant[0], p.keep(octant[0] ^ octant[1])
    rest = p[turns][: 2 * fraction - 1]
    distance = p.keep(Mux(mirrored, ~rest, rest))
    position = p.keep(distance[fraction - 1 :])

    scaling = p.branch()
    zeros = scaling.register(lowest_bit(position[::-1]))
    scaled = (scaling[distance] << scaling[zeros])[fraction - 2 : 2 * fraction - 1]
    factor = scaling.register(Mux(scaling[by_cosine], 1 << fraction, scaled))

    value = evaluate(p, circle_table(f), position, by_cosine)
    p.join(scaling)
    product = p.multiply(p[factor], p[value])[: 2 * fraction + 1]
    top = product[-1]
    word = p.round(
        f,
        sign=Const(0),
        exponent=f.bias - 2 + top + Mux(p[by_cosine], 1, -p[zeros]),
        significand=Mux(top, product, product << 1)[: 2 * fraction + 1],
        extra=2 * fraction - f.mantissa,
    )
    return octant, word


def sin(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """sin(a)."""
    x = p.register(unpack(p.m, f, a))
    octant, word = _sine(p, f, _quarter_turns(p, f, x), ahead=0)
    z = p[x]
    linear = z.exponent < f.bias + linear_below(f)
    magnitude = Mux(linear, Cat(z.significand[:-1], z.exponent), p[word][:-1])
    sign = z.sign ^ (p[octant][-1] & ~linear)
    return choose(f, Cat(magnitude, sign), sign=z.sign, zero=z.zero, nan=z.nan | z.infinite)


def cos(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """cos(a)."""
    x = p.register(unpack(p.m, f, a))
    octant, word = _sine(p, f, _quarter_turns(p, f, x), ahead=1)
    z = p[x]
    linear = z.exponent < f.bias + linear_below(f)
    result = Mux(linear, Const(f.one, f.width), Cat(p[word][:-1], p[octant][-1]))
    return choose(f, result, sign=Const(0), nan=z.nan | z.infinite)
