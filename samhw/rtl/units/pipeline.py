"""Registers between the stages of a pipeline."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data

__all__ = ["delayed"]


def delayed(m: Module, value: Value | data.View, cycles: int = 1) -> Value | data.View:
    """`value` as it was that many cycles ago; for 0 `value` itself. Its shape is kept: a view stays a view.

    What passes a stage untouched is delayed by the stage's registers beside the data. No reset reaches the
    registers: a pipeline's results mean nothing before its first operands come out.
    """
    name = getattr(Value.cast(value), "name", "stage")
    for _ in range(cycles):
        late = Signal(value.shape(), name=name, reset_less=True)
        m.d.sync += late.eq(value)
        value = late
    return value
