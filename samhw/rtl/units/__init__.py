"""Numeric units: the hardware of `samhw.numerics`, bit for bit."""

from samhw.errors import InputError
from samhw.numerics import Fixed, Integer, ValueType
from samhw.rtl.units.multiply_add import MultiplyAdd
from samhw.rtl.units.twos_complement import AddSubtract, Maximum, Multiply, Negate, Sum
from samhw.rtl.units.unit import Unit

__all__ = ["MultiplyAdd", "Unit", "accumulate_unit", "alu_unit", "token_width"]


def token_width(value_type: ValueType) -> int:
    """Bits of the payload of a val token: a value, or the two levels of a stop."""
    return max(value_type.width, 8)


def alu_unit(op: str, value_type: ValueType) -> Unit:
    """The pipeline behind `alu`: operands `a` and, for binary operations, `b`. Raises `InputError` if there
    is none."""
    if isinstance(value_type, Integer | Fixed):
        match op:
            case "add":
                return AddSubtract(value_type)
            case "sub":
                return AddSubtract(value_type, subtract=True)
            case "mul":
                return Multiply(value_type)
            case "neg":
                return Negate(value_type)
    raise InputError(f"The RTL has no unit for {op!r} on {value_type}; choose another operation or --value.")


def accumulate_unit(op: str, value_type: ValueType) -> Unit:
    """One step of a reduction, without registers: operands `a` and `b`; errors as in `alu_unit`."""
    if isinstance(value_type, Integer | Fixed):
        match op:
            case "sum":
                return Sum(value_type)
            case "max" | "min":
                return Maximum(value_type, lesser=op == "min")
    raise InputError(
        f"The RTL has no accumulator for {op!r} on {value_type}; choose another reduction or --value."
    )
