"""Quotients, reciprocals and square roots, correctly rounded, and rounding to whole numbers."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from samhw.graph.numerics.fixed_arithmetic import FixedFormat
from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import working
from samhw.graph.numerics.reciprocal import reciprocal_table, root_table
from samhw.rtl.units.float_parts import canonical, choose, unpack
from samhw.rtl.units.functions.piecewise import evaluate
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = [
    "divide_fixed",
    "divide_floats",
    "divide_integers",
    "integer_root",
    "nearest_integer",
    "reciprocal",
    "reciprocal_root",
    "square_root",
]

# Quotients and square roots of integers, digit by digit, most significant first.


_PAIR = 28
"""Up to this width two subtractions, one after the other, fit in a cycle of 10 ns on common FPGAs."""


def divide_integers(
    p: Pipeline, dividend: Value, divisor: Value, *, at_a_time: int = 2
) -> tuple[Signal, Signal]:
    """The quotient and the remainder of unsigned integers, kept. A stage makes as many digits `at_a_time`, if
    they fit.

    The quotient has as many bits as the dividend has more than the divisor. If it needs more, or the divisor
    is zero, its first bit is one and the others mean nothing.
    """
    width = len(divisor)
    bits = len(dividend) - width
    divisor = p.keep(divisor)
    # The digits of the quotient enter below as those of the dividend leave above.
    rest = p.keep(dividend[bits:])
    digits = p.keep(dividend[:bits])
    for count in _stages(bits, width + 1, at_a_time):
        r, d = p[rest], p[digits]
        for _ in range(count):
            digit, r = _subtract(p.m, Cat(d[-1], r), p[divisor], width)
            d = Cat(digit, d[:-1])
        rest = p.keep(r)
        digits = p.keep(d)
        p.advance()
    return digits, rest


def integer_root(p: Pipeline, radicand: Value, *, at_a_time: int = 2) -> tuple[Signal, Signal]:
    """The floor of the square root of an unsigned integer with an even number of bits, and what its square
    lacks; both kept. Stages as in `divide_integers`."""
    bits = len(radicand) // 2
    root = p.keep(Const(0, 0))
    rest = p.keep(Const(0, 0))
    pairs = p.keep(radicand)
    for count in _stages(bits, bits + 2, at_a_time):
        q, r, d = p[root], p[rest], p[pairs]
        for _ in range(count):
            # In units of the next digit's square, that digit adds 4 * root + 1 to the square.
            digit, r = _subtract(p.m, Cat(d[-2:], r), Cat(Const(1, 2), q), len(q) + 2)
            q, d = Cat(digit, q), d[:-2]
        root = p.keep(q)
        rest = p.keep(r)
        pairs = p.keep(d)
        p.advance()
    return root, rest


def _stages(digits: int, width: int, at_a_time: int) -> list[int]:
    """How many digits each stage makes, for differences of that width."""
    step = at_a_time if width <= _PAIR else 1
    return [min(step, digits - done) for done in range(0, digits, step)]


def _subtract(m: Module, a: Value, b: Value, width: int) -> tuple[Value, Value]:
    """Whether a >= b, and a - b or else a, which has `width` bits."""
    difference = Signal(signed(max(len(a), len(b)) + 1))
    m.d.comb += difference.eq(a - b)
    fits = ~difference[-1]
    return fits, Mux(fits, difference[:width], a[:width])


def divide_floats(
    p: Pipeline, f: FloatFormat, a: Value, b: Value, *, at_a_time: int = 2, apart: bool = False
) -> Value:
    """a / b; stages as in `divide_integers`, and with `apart` one more where operands may be subnormal, in
    which they are made normal."""
    x, y = unpack(p.m, f, a), unpack(p.m, f, b)
    if apart and f.subnormals:
        x, y = p.keep(x), p.keep(y)
        p.advance()
        x, y = p[x], p[y]
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


def nearest_integer(p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """The whole number nearest to a, of two the even one."""
    word = p.keep(canonical(f, a))
    exponent = a[f.mantissa : -1]
    # As many ones as bits are after the point, for numbers from one to where all are whole.
    fraction = p.keep((f.bias + f.mantissa - exponent)[: len(Const(f.mantissa))])
    behind = p.register(((Const(1) << fraction) - 1)[: f.width - 1])
    size, below_half = p[word][:-1], p[behind] >> 1
    half = (size & (p[behind] ^ below_half)).any()
    decides = size & (below_half | (p[behind] + 1)[: f.width - 1])
    goes_up = p.register(half & decides.any())
    size = p[word][:-1]
    # A carry out of the significand adds to the exponent.
    rounded = (size - (size & p[behind]) + Mux(p[goes_up], p[behind] + 1, 0))[: f.width - 1]
    below_one = Mux(size > f.one - f.hidden, Const(f.one, f.width - 1), 0)
    is_whole = size >= f.one + (f.mantissa << f.mantissa)
    result = Mux(size < f.one, below_one, Mux(is_whole, size, rounded))
    result = p.register(Cat(result, p[word][-1]))
    return p[result]
