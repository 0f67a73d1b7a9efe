"""Numeric units: the hardware of `samhw.graph.numerics`, bit for bit."""

from samhw.rtl.units.catalogue import accumulate_unit, alu_unit, scale_unit
from samhw.rtl.units.convert import convert_unit, widen
from samhw.rtl.units.twos_complement import MultiplyAdd
from samhw.rtl.units.unit import Unit

__all__ = ["MultiplyAdd", "Unit", "accumulate_unit", "alu_unit", "convert_unit", "scale_unit", "widen"]
