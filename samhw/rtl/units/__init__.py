"""Numeric units: the hardware of `samhw.numerics`, bit for bit."""

from samhw.numerics import ValueType
from samhw.rtl.units.catalogue import accumulate_unit, alu_unit, scale_unit
from samhw.rtl.units.convert import convert_unit, widen
from samhw.rtl.units.multiply_add import MultiplyAdd
from samhw.rtl.units.unit import Unit

__all__ = [
    "MultiplyAdd",
    "Unit",
    "accumulate_unit",
    "alu_unit",
    "convert_unit",
    "scale_unit",
    "token_width",
    "widen",
]


def token_width(value_type: ValueType) -> int:
    """Bits of the payload of a val token: a value, or the two levels of a stop."""
    return max(value_type.width, 8)
