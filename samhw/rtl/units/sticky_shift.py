"""A right shift that remembers whether anything was lost."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value

__all__ = ["shift_right_sticky"]


def shift_right_sticky(m: Module, value: Value, count: Value) -> Value:
    """`value` >> `count`, unsigned or signed; the bits lost are ORed into the lowest bit of the result."""
    levels = min((len(value) - 1).bit_length(), len(count))
    far = count[levels:].any()
    nothing_left, anything = value[-1] & value.shape().signed, value.any()
    lost: Value | None = None
    # From the longest shift down: the bits it may lose are many, but known first.
    for level in reversed(range(levels)):
        shift = 1 << level
        shifted = Signal(value.shape())
        lost_here = Signal()
        here = count[level] & value[:shift].any()
        m.d.comb += [
            shifted.eq(Mux(count[level], value.shift_right(shift), value)),
            lost_here.eq(here if lost is None else here | lost),
        ]
        value, lost = shifted, lost_here
    result = Signal(value.shape())
    m.d.comb += result.eq(
        Mux(
            far,
            Cat(nothing_left | anything, nothing_left.replicate(len(value) - 1)),
            Cat(value[0] | lost, value[1:]),
        )
    )
    return result
