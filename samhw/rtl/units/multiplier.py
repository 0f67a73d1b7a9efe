"""Pipelined products of integers that are wider than one multiplier of an FPGA."""

from amaranth.hdl import Cat, Module, Signal, Value, signed, unsigned

__all__ = ["multiply", "multiply_registers"]

_SINGLE = 18
"""Operands up to this width take one multiplier of common FPGAs, signed or not."""


def multiply_registers(a_width: int, b_width: int) -> int:
    """Cycles that `multiply` takes: one for the products, and one for their sum if there are several."""
    return 1 if max(a_width, b_width) <= _SINGLE else 2


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
    low = 0 if len(value) <= _SINGLE else (len(value) + 1) // 2
    high = value[low:]
    return value[:low], high.as_signed() if value.shape().signed else high
