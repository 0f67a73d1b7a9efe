"""How value types round, for the reference."""

from samhw.graph.numerics import Fixed, Float, ValueType
from samhw.lang.reference import Rounding

__all__ = ["rounding_of"]


def rounding_of(kind: ValueType) -> Rounding | None:
    """How the type rounds; None for integers, which do not."""
    if isinstance(kind, Fixed):
        return Rounding.fixed(kind.width, kind.fraction)
    if not isinstance(kind, Float):
        return None
    f = kind.format
    if not f.subnormals:
        return Rounding.floating(f.mantissa)
    least, greatest, beyond = kind.decode([f.least, f.lowest_nan - 1 - f.infinities, f.infinity]).tolist()
    return Rounding.gradual(f.mantissa, least, greatest, beyond)
