"""Which unit computes an operation."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from amaranth.hdl import Elaboratable, Module, Mux, Value

from samhw.errors import InputError
from samhw.graph.numerics import Fixed, Float, Integer, ValueType
from samhw.rtl.units.convert import Widened, convert_unit
from samhw.rtl.units.float_operations import FloatAdd, FloatCompare, FloatMaximum, FloatMultiply, FloatSign
from samhw.rtl.units.float_parts import canonical, unpack
from samhw.rtl.units.functions import function_unit
from samhw.rtl.units.twos_complement import (
    AddSubtract,
    Compare,
    Maximum,
    Multiply,
    Negate,
    Scale,
    TwosComplement,
    negative,
)
from samhw.rtl.units.unit import Unit, delayed

__all__ = ["LeakyRelu", "Relu", "Select", "accumulate_unit", "alu_unit", "scale_unit"]

# Units that pass one of their operands, of any value type.


Arithmetic = TwosComplement | Float


class Select(Unit):
    """b if a, the condition, is not zero, else c; at once."""

    def __init__(self, value_type: Arithmetic):
        self.value_type = value_type
        super().__init__(value_type.width, "a b c", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        if isinstance(self.value_type, Float):
            holds = ~unpack(m, self.value_type.format, self.a).zero
        else:
            holds = self.a.any()
        m.d.comb += self.result.eq(_passed(self.value_type, Mux(holds, self.b, self.c)))
        return m


class Relu(Unit):
    """a, or 0 for what is less; at once."""

    def __init__(self, value_type: Arithmetic):
        self.value_type = value_type
        super().__init__(value_type.width, "a", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        negative = _negative(m, self.value_type, self.a)
        m.d.comb += self.result.eq(Mux(negative, 0, _passed(self.value_type, self.a)))
        return m


class LeakyRelu(Unit):
    """a, or a * b, b being the slope, where a is negative; as long as a multiplication."""

    def __init__(self, value_type: Arithmetic, *, latency: int = 0):
        self.value_type = value_type
        if isinstance(value_type, Float):
            self.product: Unit = FloatMultiply(value_type, latency=latency)
        else:
            self.product = Multiply(value_type)
        super().__init__(value_type.width, "a b", self.product.registers)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.product = product = self.product
        m.d.comb += [product.a.eq(self.a), product.b.eq(self.b)]
        a = delayed(m, self.a, self.registers)
        negative = _negative(m, self.value_type, a)
        m.d.comb += [
            self.result.eq(Mux(negative, product.result, _passed(self.value_type, a))),
            self.overflow.eq(negative & product.overflow),
        ]
        return m


def _negative(m: Module, value_type: Arithmetic, word: Value) -> Value:
    """The sign bit of a number; NaN is none."""
    if isinstance(value_type, Float):
        return word[-1] & ~unpack(m, value_type.format, word).nan
    return negative(value_type, word)


def _passed(value_type: Arithmetic, word: Value) -> Value:
    """An operand as a result."""
    return canonical(value_type.format, word) if isinstance(value_type, Float) else word


def alu_unit(op: str, value_type: ValueType, to: ValueType | None = None, *, latency: int = 0) -> Unit:
    """The pipeline of `alu`: operands `a`, `b`, `c`, as many as the operation has.

    Args:
        op: an operation of the value type, `convert` or `scale`.
        to: the type of the result, if not that of the operands. `add`, `sub` and `mul` take a wider type of
            the same kind, `convert` any, `scale` integers.
        latency: that it may take. Floating-point products use one cycle more than they need, quotients and
            roots a cycle for each digit.

    Raises `InputError` if there is no such unit.
    """
    target = to or value_type
    unit: Unit | None = None
    if op == "convert":
        unit = convert_unit(value_type, target)
    elif op == "scale":
        if value_type == Integer(32) and isinstance(target, Integer):
            unit = scale_unit(target)
    elif target != value_type:
        unit = _widened_unit(op, value_type, target, latency)
    elif isinstance(value_type, Float | Integer | Fixed):
        unit = _unit(op, value_type, latency) or function_unit(op, value_type, latency=latency)
    if unit is None:
        types = f"{value_type}" if target == value_type else f"{value_type} with results in {target}"
        raise InputError(f"The RTL has no unit for {op!r} on {types}; choose another operation or --value.")
    return unit


def scale_unit(target: Integer) -> Unit:
    """Requantisation of an i32 to `target`: a * b / 2**c, saturated; b and c are meant to be constants."""
    return Scale(target)


def accumulate_unit(op: str, value_type: ValueType, *, latency: int = 0) -> Unit:
    """One step of a reduction (`sum`, `max`, `min`, `prod`): operands `a` and `b`; latency and errors as in
    `alu_unit`.

    Without registers, but for floating-point sums and for products.
    """
    match op, value_type:
        case "sum", Float():
            return FloatAdd(value_type)
        case "sum", Integer() | Fixed():
            return AddSubtract(value_type, registers=0)
        case (("max" | "min"), _):
            return alu_unit(op, value_type)
        case "prod", _:
            return alu_unit("mul", value_type, latency=latency)
    raise InputError(
        f"The RTL has no accumulator for {op!r} on {value_type}; choose another reduction or --value."
    )


class _Arithmetic(NamedTuple):
    """The units of a kind of numbers."""

    add: Callable[..., Unit]
    multiply: Callable[..., Unit]
    maximum: Callable[..., Unit]
    compare: Callable[..., Unit]
    sign: Callable[..., Unit]


_FLOAT = _Arithmetic(FloatAdd, FloatMultiply, FloatMaximum, FloatCompare, FloatSign)
_TWOS_COMPLEMENT = _Arithmetic(AddSubtract, Multiply, Maximum, Compare, Negate)


def _unit(op: str, value_type: Float | Integer | Fixed, latency: int) -> Unit | None:
    units = _TWOS_COMPLEMENT
    if isinstance(value_type, Float):
        units = _FLOAT._replace(multiply=partial(FloatMultiply, latency=latency))
    match op:
        case "add" | "sub":
            return units.add(value_type, subtract=op == "sub")
        case "mul":
            return units.multiply(value_type)
        case "max" | "min":
            return units.maximum(value_type, lesser=op == "min")
        case "lt" | "le" | "eq":
            return units.compare(value_type, op)
        case "neg" | "abs":
            return units.sign(value_type, absolute=op == "abs")
        case "select":
            return Select(value_type)
        case "relu":
            return Relu(value_type)
        case "leaky_relu":
            return LeakyRelu(value_type, latency=latency)
    return None


def _widened_unit(op: str, source: ValueType, target: ValueType, latency: int) -> Unit | None:
    """`op` of the target on words of the source."""
    if source.width >= target.width:
        return None
    match op, source, target:
        case (("add" | "sub"), Integer(), Integer()):
            return AddSubtract(source, subtract=op == "sub", to=target)
        case "mul", Integer(), Integer():
            return Multiply(source, to=target)
        case (("add" | "sub" | "mul"), Float(), Float()):
            return Widened(alu_unit(op, target, latency=latency), source, target)
    return None
