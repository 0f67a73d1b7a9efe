"""From an exact integer to a word of an integer or fixed-point type."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed

from samhw.graph.numerics import Fixed, Integer
from samhw.rtl.units.unit import Unit

__all__ = ["TwosComplement", "fit"]

TwosComplement = Integer | Fixed


def fit(
    m: Module,
    unit: Unit,
    target: TwosComplement,
    exact: Value,
    *,
    fraction: int = 0,
    saturates: bool | None = None,
) -> None:
    """Drives `result` and `overflow` of the unit: rounds to nearest, ties to even, and checks the range.

    Args:
        exact: signed, of any width.
        fraction: bits of `exact` that are to be rounded away.
        saturates: give the nearest number in range for one that is out of range, instead of an overflow; if
            not given, as the type does.
    """
    width = target.width
    wide = Signal(signed(max(len(exact), width + fraction + 1)))
    m.d.comb += wide.eq(exact)
    kept, above = wide[fraction:], wide[fraction + width :]
    rounded = Signal(width)
    if fraction:
        up = wide[fraction - 1] & (wide[: fraction - 1].any() | wide[fraction])
        m.d.comb += rounded.eq(kept[:width] + up)
    else:
        m.d.comb += rounded.eq(kept)
    # Rounding only goes up: it may leave the range at the top, and enter it at the bottom.
    before, after = kept[width - 1], rounded[-1]
    fits = (above.all() & (before | after)) | ~(above.any() | before | after)
    if target.saturates if saturates is None else saturates:
        limit = Cat((~wide[-1]).replicate(width - 1), wide[-1])
        m.d.comb += unit.result.eq(Mux(fits, rounded, limit))
    else:
        m.d.comb += [unit.result.eq(rounded), unit.overflow.eq(~fits)]
