"""Quotients and square roots of integers, digit by digit, most significant first."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["divide_integers", "integer_root"]

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
