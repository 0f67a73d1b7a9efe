"""Division, correctly rounded."""

from amaranth.hdl import Cat, Const, Mux, Value

from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.graph.numerics.float_format import FloatFormat
from samhw.rtl.units.float_parts import choose, unpack
from samhw.rtl.units.functions.digits import divide_integers
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["divide_fixed", "divide_floats"]


def divide_floats(p: Pipeline, f: FloatFormat, a: Value, b: Value, *, at_a_time: int = 2) -> Value:
    """a / b; stages as in `divide_integers`."""
    x, y = unpack(p.m, f, a), unpack(p.m, f, b)
    sign = p.keep((x.sign ^ y.sign) & ~y.nan)
    zero = p.keep(x.zero | y.infinite)
    infinite = p.keep((x.infinite | y.zero) & ~x.zero)
    nan = p.keep((x.nan | y.nan | (x.infinite & y.infinite)) & ~x.zero)
    less = x.significand < y.significand
    exponent = p.keep(x.exponent - y.exponent + f.bias - less)
    doubled = p.keep(Mux(less, x.significand << 1, x.significand))
    divisor = p.keep(y.significand)

    p.advance()
    dividend = Cat(Const(0, f.mantissa + 2), p[doubled])
    quotient, rest = divide_integers(p, dividend, p[divisor], at_a_time=at_a_time)

    significand = Cat(p[quotient][0] | p[rest].any(), p[quotient][1:])
    word = p.round(f, sign=p[sign], exponent=p[exponent], significand=significand, extra=2)
    return choose(f, p[word], sign=p[sign], zero=p[zero], infinite=p[infinite], nan=p[nan])


def divide_fixed(p: Pipeline, f: FixedFormat, a: Value, b: Value) -> Value:
    """a / b."""
    w = f.width
    negative = p.keep(a[-1] ^ b[-1])
    nothing = p.keep(~a.any())
    dividend = p.keep(abs(a.as_signed())[:w])
    divisor = p.keep(abs(b.as_signed())[:w])

    p.advance()
    scaled = Cat(Const(0, f.fraction), p[dividend], Const(0, w - f.fraction))
    quotient, rest = divide_integers(p, scaled, p[divisor])

    twice_rest = p[rest] << 1
    up = Mux(p[quotient][0], twice_rest >= p[divisor], twice_rest > p[divisor])
    magnitude = p.register(p[quotient] + up)

    # What needs more than `w` bits begins with a one; so does the quotient by zero.
    too_large = p[magnitude] > f.highest
    signed_quotient = Mux(p[negative], -p[magnitude], p[magnitude])
    limit = Mux(p[negative], f.lowest, f.highest)
    return Mux(p[nothing], 0, Mux(too_large, limit, signed_quotient))[:w]
