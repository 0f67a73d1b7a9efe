"""What the scanners of levels that store coordinates check of each of them."""

from amaranth.hdl import Module, Signal, Value, ValueLike

__all__ = ["check_coordinates"]


def check_coordinates(
    m: Module, coordinate: Value, *, used: Value, extent: Value, first: ValueLike = 1
) -> tuple[Value, Value]:
    """Whether a stored coordinate lies beyond its extent, and whether it does not increase.

    Both a cycle later, so that no comparison lies behind the memory.

    Args:
        coordinate: what the memory answers.
        used: it is the answer for a coordinate that is pushed.
        first: that coordinate is the first one of its fiber.
    """
    here = Signal()
    follows = Signal()
    last = Signal.like(coordinate)
    before = Signal.like(coordinate)
    m.d.sync += here.eq(used)
    with m.If(used):
        m.d.sync += [last.eq(coordinate), before.eq(last), follows.eq(~Value.cast(first))]
    return here & (last >= extent), here & follows & (last <= before)
