"""One step of a reduction: a value is added to what has been accumulated, or is the first of its fiber."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.rtl.shared import SharedPart
from samhw.rtl.units import accumulate_unit
from samhw.rtl.units.pipeline import delayed

__all__ = ["ReduceStep"]


class ReduceStep(SharedPart):
    """A pipeline that takes operands in every cycle and gives `op(a, b)`, or `b` bit for bit.

    `b` alone passes beside the unit, not through it, since an addition of zero would change the bits of a
    negative zero and of words that no operation gives (subnormal numbers, other NaNs).

    Args:
        op: `sum`, `max`, `min` or `prod`.

    Attributes:
        latency: L₊ of docs/primitives.md; the result comes `latency - 1` cycles after its operands. What the
            unit does not use of it is spent in registers after the unit.

    Members:
        a, b (In): words of the value type.
        alone (In): the result is `b`.
        result (Out), overflow (Out): as in `Unit`; `b` alone never overflows.

    Raises:
        InputError: the value type has no such unit, or `Arch.reduce` gives fewer cycles than it needs.
    """

    a: Signal
    b: Signal
    alone: Signal
    result: Signal
    overflow: Signal

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str):
        self.latency = arch.reduce_latency(op, value_type)
        self.unit = accumulate_unit(op, value_type, latency=self.latency)
        self.unit.check_latency(self.latency, f"The latency of {op!r} on {value_type} in Arch.reduce")
        width = value_type.width
        super().__init__(
            {"a": In(width), "b": In(width), "alone": In(1), "result": Out(width), "overflow": Out(1)}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.unit = unit = self.unit
        b, alone = delayed(m, self.b, unit.registers), delayed(m, self.alone, unit.registers)
        padding = self.latency - 1 - unit.registers
        m.d.comb += [
            unit.a.eq(self.a),
            unit.b.eq(self.b),
            self.result.eq(delayed(m, Mux(alone, b, unit.result), padding)),
            self.overflow.eq(delayed(m, unit.overflow & ~alone, padding)),
        ]
        return m
