"""One step of a linear recurrence: what has come before is rescaled, and a value added."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.rtl.shared import SharedPart
from samhw.rtl.units import alu_unit
from samhw.rtl.units.pipeline import delayed

__all__ = ["RescaleStep"]


class RescaleStep(SharedPart):
    """A pipeline that takes operands in every cycle and gives `h * r + x` and, if `joins`, `p * r`; or else
    `x` and `r`, bit for bit.

    Args:
        joins: it joins factors too.

    Attributes:
        latency: L of docs/primitives.md; results come `latency - 1` cycles after their operands. What the
            units do not use of it is spent in registers after them.

    Members:
        h, p, r, x (In): words of the value type.
        alone (In): the results are `x` and `r`.
        result, factor (Out); overflow (Out): `alone` never overflows.

    Raises:
        InputError: `Arch.reduce` gives fewer cycles than the units need.
    """

    h: Signal
    p: Signal
    r: Signal
    x: Signal
    alone: Signal
    result: Signal
    factor: Signal
    overflow: Signal

    def __init__(self, *, arch: Arch, value_type: ValueType, joins: bool = False):
        self.multiply, self.add = alu_unit("mul", value_type), alu_unit("add", value_type)
        self.join = alu_unit("mul", value_type) if joins else None
        self.latency = arch.reduce_latency("recur", value_type)
        self.registers = self.multiply.registers + self.add.registers
        if self.latency <= self.registers:
            raise InputError(
                f"The latency of 'recur' on {value_type} in Arch.reduce is {self.latency}; give at least "
                f"{self.registers + 1}."
            )
        width = value_type.width
        words = {name: In(width) for name in ("h", "p", "r", "x")}
        results = {name: Out(width) for name in ("result", "factor")}
        super().__init__({**words, **results, "alone": In(1), "overflow": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.multiply, m.submodules.add = self.multiply, self.add
        early, late = self.multiply.registers, self.add.registers
        padding = self.latency - 1 - self.registers
        x = delayed(m, self.x, early)
        alone = delayed(m, self.alone, self.registers)
        overflow = delayed(m, self.multiply.overflow, late) | self.add.overflow
        m.d.comb += [
            self.multiply.a.eq(self.h),
            self.multiply.b.eq(self.r),
            self.add.a.eq(self.multiply.result),
            self.add.b.eq(x),
            self.result.eq(delayed(m, Mux(alone, delayed(m, x, late), self.add.result), padding)),
        ]
        if self.join is not None:
            m.submodules.join = self.join
            r = delayed(m, self.r, self.registers)
            factor = delayed(m, self.join.result, late)
            overflow |= delayed(m, self.join.overflow, late)
            m.d.comb += [
                self.join.a.eq(self.p),
                self.join.b.eq(self.r),
                self.factor.eq(delayed(m, Mux(alone, r, factor), padding)),
            ]
        m.d.comb += self.overflow.eq(delayed(m, overflow & ~alone, padding))
        return m
