# amaranth: UnusedElaboratable=no
"""The tables of `samhw.graph.numerics` as memories, and the polynomials that they hold."""

from collections.abc import Iterator, Sequence

import numpy as np
from amaranth.hdl import Cat, Const, Mux, Shape, Signal, Value
from amaranth.lib import data, memory
from numpy.typing import NDArray

from samhw.graph.numerics.float_format import FloatFormat
from samhw.graph.numerics.piecewise import Piecewise, working
from samhw.rtl.units.functions.pipeline import Pipeline

__all__ = ["evaluate", "locate", "look_up", "read"]


def evaluate(p: Pipeline, table: Piecewise, position: Value, group: Value | None = None) -> Signal:
    """The value at a position in a group; kept.

    Args:
        position: a fraction of the group. The leading bits choose the segment, the others are the variable.
        group: where there are several. Results from beyond the last one mean nothing.
    """
    t_bits = len(position) - table.index_bits
    t = p.keep(position[:t_bits])
    row = read(p, table.columns, Cat(position[t_bits:], Const(0, 0) if group is None else group))
    degree = len(table.columns) - 1
    value = p.keep(p[row][f"c{degree}"])
    for j, shape in zip(reversed(range(degree)), _partial_sums(table), strict=True):
        product = p.multiply(p[value], p[t])
        total = Signal(shape)
        p.m.d.comb += total.eq(p[row][f"c{j}"] + (p[product] >> t_bits))
        value = p.register(total)
    return value


def read(p: Pipeline, columns: Sequence[NDArray[np.int64]], address: Value) -> data.View:
    """The entries of the columns `c0`, `c1`, ... at an address; kept."""
    layout = data.StructLayout(
        {f"c{j}": Shape.cast(range(int(c.min()), int(c.max()) + 1)) for j, c in enumerate(columns)}
    )
    rows = [{f"c{j}": int(c) for j, c in enumerate(row)} for row in zip(*columns, strict=True)]
    p.m.submodules += (rom := memory.Memory(shape=layout, depth=len(rows), init=rows))
    port = rom.read_port()
    p.m.d.comb += port.addr.eq(address)
    p.advance()
    # A block memory takes most of a cycle, and the multiplier after it as well.
    return p.register(port.data)


def look_up(table: NDArray[np.int64], p: Pipeline, f: FloatFormat, a: Value) -> Value:
    """The entry of a word in a table of results."""
    return p[read(p, (table,), a)].c0


def _partial_sums(table: Piecewise) -> Iterator[Shape]:
    """What holds the values of Horner's rule, from the first sum to the result."""
    low = high = table.columns[-1]
    for column in table.columns[-2::-1]:
        # The variable is below one.
        low, high = column + np.minimum(low, 0), column + np.maximum(high - 1, 0)
        yield Shape.cast(range(int(low.min()), int(high.max()) + 1))


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
