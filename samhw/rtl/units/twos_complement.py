"""Integers and fixed point, with an overflow error or with saturation."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Signal, Value, signed, unsigned

from samhw.graph.numerics import Fixed, Integer
from samhw.rtl.units.float_parts import shift_right_sticky
from samhw.rtl.units.unit import Unit, delayed

__all__ = [
    "AddSubtract",
    "Compare",
    "Maximum",
    "Multiply",
    "MultiplyAdd",
    "Negate",
    "Scale",
    "TwosComplement",
    "fit",
    "multiply",
    "multiply_registers",
    "negative",
    "number",
]

# Pipelined products of integers that are wider than one multiplier of an FPGA.


_ONE_BLOCK = 18
"""Operands up to this width take one multiplier of common FPGAs, signed or not."""


def multiply_registers(a_width: int, b_width: int) -> int:
    """Cycles that `multiply` takes: one for the products, and one for their sum if there are several."""
    return 1 if max(a_width, b_width) <= _ONE_BLOCK else 2


def multiply(m: Module, a: Value, b: Value) -> Value:
    """a * b, exact, `multiply_registers` cycles later; signed if an operand is.

    Up to 34 bits (36 if both are unsigned) an operand is no more than two multipliers wide. Operands should
    come from registers, since a multiplier takes most of a cycle.
    """
    is_signed = a.shape().signed or b.shape().signed
    product = Signal((signed if is_signed else unsigned)(len(a) + len(b)), reset_less=True)
    if multiply_registers(len(a), len(b)) == 1:
        m.d.sync += product.eq(a * b)
        return product
    (a_low, a_high), (b_low, b_high) = _split(a), _split(b)
    # The products of the lower and of the upper parts do not overlap.
    outer = Signal(len(product), reset_less=True)
    a_cross = Signal((a_high * b_low).shape(), reset_less=True)
    b_cross = Signal((a_low * b_high).shape(), reset_less=True)
    m.d.sync += [
        outer.eq(Cat((a_low * b_low)[: len(a_low) + len(b_low)], a_high * b_high)),
        a_cross.eq(a_high * b_low),
        b_cross.eq(a_low * b_high),
        product.eq(outer + a_cross.shift_left(len(a_low)) + b_cross.shift_left(len(b_low))),
    ]
    return product


def _split(value: Value) -> tuple[Value, Value]:
    """The lower part, unsigned, and the upper one; no lower one if one multiplier takes `value`."""
    low = 0 if len(value) <= _ONE_BLOCK else (len(value) + 1) // 2
    high = value[low:]
    return value[:low], high.as_signed() if value.shape().signed else high


TwosComplement = Integer | Fixed


def number(value_type: TwosComplement, word: Value) -> Value:
    """A word as a number, in units of the last place."""
    return word.as_signed() if value_type.is_signed else word.as_unsigned()


def negative(value_type: TwosComplement, word: Value) -> Value:
    """Whether a word is below zero."""
    return word[-1] if value_type.is_signed else Const(0, 1)


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
        exact: of any width, signed or not.
        fraction: bits of `exact` that are to be rounded away.
        saturates: give the nearest number in range for one that is out of range, instead of an overflow; if
            not given, as the type does.
    """
    width = target.width
    wide = Signal(signed(max(len(exact) + (not exact.shape().signed), width + fraction + 1)))
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
    if target.is_signed:
        fits = (above.all() & (before | after)) | ~(above.any() | before | after)
    else:
        fits = Mux(before & ~after, above.all(), ~above.any())
    if target.saturates if saturates is None else saturates:
        below = wide[-1]
        limit = Cat((~below).replicate(width - 1), below if target.is_signed else ~below)
        m.d.comb += unit.result.eq(Mux(fits, rounded, limit))
    else:
        m.d.comb += [unit.result.eq(rounded), unit.overflow.eq(~fits)]


class AddSubtract(Unit):
    """a + b or a - b: the sum in the first cycle, its range in the second.

    Without registers it is the step of an accumulator that uses the result in the next cycle.
    """

    def __init__(
        self,
        value_type: TwosComplement,
        *,
        subtract: bool = False,
        to: TwosComplement | None = None,
        registers: int = 1,
    ):
        self.value_type = value_type
        self.subtract = subtract
        self.to = to or value_type
        super().__init__(value_type.width, "a b", registers, result_width=self.to.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = (number(self.value_type, word) for word in (self.a, self.b))
        exact = Signal(signed(self.width + 1 + (not self.value_type.is_signed)))
        m.d.comb += exact.eq(a - b if self.subtract else a + b)
        fit(m, self, self.to, delayed(m, exact, self.registers))
        return m


class Negate(Unit):
    """-a, or |a|; only the lowest value has neither."""

    def __init__(self, value_type: TwosComplement, *, absolute: bool = False):
        self.value_type = value_type
        self.absolute = absolute
        super().__init__(value_type.width, "a", registers=1)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a = number(self.value_type, self.a)
        exact = Signal(signed(self.width + 1))
        m.d.comb += exact.eq(Mux(negative(self.value_type, self.a), -a, a) if self.absolute else -a)
        fit(m, self, self.value_type, delayed(m, exact))
        return m


class Multiply(Unit):
    """a * b: operand registers, the product; then rounding and range."""

    def __init__(self, value_type: TwosComplement, *, to: TwosComplement | None = None):
        self.value_type = value_type
        self.to = to or value_type
        width = value_type.width
        super().__init__(width, "a b", 1 + multiply_registers(width, width), result_width=self.to.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = (number(self.value_type, word) for word in (self.a, self.b))
        exact = multiply(m, delayed(m, a), delayed(m, b))
        fit(m, self, self.to, exact, fraction=self.value_type.fraction)
        return m


class Maximum(Unit):
    """The greater of a and b, or the lesser, at once."""

    def __init__(self, value_type: TwosComplement, *, lesser: bool = False):
        self.value_type = value_type
        self.lesser = lesser
        super().__init__(value_type.width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        less = number(self.value_type, self.a) < number(self.value_type, self.b)
        m.d.comb += self.result.eq(Mux(less ^ self.lesser, self.b, self.a))
        return m


class Compare(Unit):
    """`lt`, `le` or `eq`: whether it holds, as 1 or 0 of the value type."""

    def __init__(self, value_type: TwosComplement, op: str):
        self.value_type = value_type
        self.op = op
        super().__init__(value_type.width, "a b", registers=0)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b = (number(self.value_type, word) for word in (self.a, self.b))
        holds = {"lt": a < b, "le": a <= b, "eq": a == b}[self.op]
        m.d.comb += self.result.eq(Mux(holds, Const(self.value_type.format.one, self.width), 0))
        return m


_HALF = 16
"""Wider ones are split here."""


class MultiplyAdd(Unit):
    """a * b + c, unsigned, modulo 2**width: operand registers, products, sum."""

    def __init__(self, width: int):
        super().__init__(width, "a b c", registers=2 if width <= _ONE_BLOCK else 3)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        a, b, c = (delayed(m, operand) for operand in (self.a, self.b, self.c))
        product = Signal(self.width, reset_less=True)
        if self.width <= _ONE_BLOCK:
            m.d.sync += product.eq(a * b)
            addend = delayed(m, c)
        else:
            low = Signal(2 * _HALF, reset_less=True)
            cross_a = Signal(self.width - _HALF, reset_less=True)
            cross_b = Signal(self.width - _HALF, reset_less=True)
            m.d.sync += [
                low.eq(a[:_HALF] * b[:_HALF]),
                cross_a.eq(a[_HALF:] * b[:_HALF]),
                cross_b.eq(a[:_HALF] * b[_HALF:]),
                product.eq(low + ((cross_a + cross_b) << _HALF)),
            ]
            addend = delayed(m, c, 2)
        m.d.comb += self.result.eq(product + addend)
        return m


_WIDTH = 32
_MULTIPLIER = 31
_SHIFT = 6
"""Bits of a, b and c."""
_GREATEST_SHIFT = 62


class Scale(Unit):
    """a * b / 2**c, rounded to nearest, ties to even, and saturated to the target.

    a is an i32, b from 0 to 2**31 - 1, c from 0 to 62: others are an overflow. Constants make it much
    smaller.
    """

    def __init__(self, target: Integer):
        self.target = target
        registers = 2 + multiply_registers(_WIDTH, _MULTIPLIER)
        super().__init__(_WIDTH, "a b c", registers, result_width=target.width)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        product = multiply(m, delayed(m, self.a.as_signed()), delayed(m, self.b[:_MULTIPLIER]))
        # Two bits more, for rounding.
        quarters = Signal(signed(len(product) + 2))
        m.d.comb += quarters.eq(Cat(Const(0, 2), product))
        shifted = shift_right_sticky(m, quarters, delayed(m, self.c[:_SHIFT], self.registers - 1))
        fit(m, self, self.target, delayed(m, shifted), fraction=2, saturates=True)
        beyond = self.b[_MULTIPLIER:].any() | (self.c > _GREATEST_SHIFT)
        m.d.comb += self.overflow.eq(delayed(m, beyond, self.registers))
        return m
