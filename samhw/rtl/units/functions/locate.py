"""Where the tables for magnitudes below 16 are read."""

from amaranth.hdl import Cat, Const, Mux, Signal
from amaranth.lib import data

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import working
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["locate"]


def locate(p: Pipeline, f: FloatFormat, x: data.View) -> tuple[Signal, Signal]:
    """The group, and the position in it with `working(f)` bits; kept. From 16 on they mean nothing.

    Args:
        x: a number that was taken apart, kept.
    """
    fraction = working(f)
    exponent = p[x].exponent
    inside_one = exponent < f.bias
    distance = (f.bias - exponent)[: f.exponent_bits]
    left_aligned = Cat(Const(0, fraction - f.mantissa), p[x].significand)
    group = p.keep(Mux(inside_one, 0, exponent - (f.bias - 1))[:3])
    position = p.register(Mux(inside_one, left_aligned >> distance, left_aligned)[:fraction])
    return group, position
