"""One step of a reduction or of a linear recurrence, on words and on blocks."""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import Integer, ValueType
from samhw.rtl.shared import SharedPart
from samhw.rtl.units import accumulate_unit, alu_unit
from samhw.rtl.units.unit import delayed

__all__ = ["BlockStep", "ReduceStep", "RescaleStep", "block_step"]


class ReduceStep(SharedPart):
    """A pipeline that takes operands in every cycle and gives `op(a, b)`, or `b` bit for bit.

    `b` alone passes beside the unit, not through it, since an addition of zero would change the bits of a
    negative zero and of words that no operation gives (subnormal numbers, other NaNs).

    Args:
        op: `sum`, `max`, `min` or `prod`.
        bits: those of an integer that say all of it; the ones above are copies of the highest of them. All
            unless given.

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

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, bits: int | None = None):
        self.latency = arch.reduce_latency(op, value_type)
        self.bits = value_type.width if bits is None else bits
        narrow = value_type if self.bits == value_type.width else Integer(self.bits)
        self.unit = accumulate_unit(op, narrow, latency=self.latency)
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
        result = Mux(alone, b[: self.bits], unit.result)
        m.d.comb += [
            unit.a.eq(self.a),
            unit.b.eq(self.b),
            self.result.eq(delayed(m, result, padding).as_signed()),
            self.overflow.eq(delayed(m, unit.overflow & ~alone, padding)),
        ]
        return m


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


class BlockStep(SharedPart):
    """`ReduceStep` on all words of a block; arguments, errors and members are its own.

    Args:
        words: of a block.
    """

    a: Signal
    b: Signal
    alone: Signal
    result: Signal
    overflow: Signal

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, words: int):
        self.steps = [ReduceStep(arch=arch, value_type=value_type, op=op) for _ in range(words)]
        self.latency = self.steps[0].latency
        self.word_width = value_type.width
        width = words * value_type.width
        super().__init__(
            {"a": In(width), "b": In(width), "alone": In(1), "result": Out(width), "overflow": Out(1)}
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        for n, step in enumerate(self.steps):
            m.submodules[f"word{n}"] = step
            m.d.comb += [
                step.a.eq(self.a.word_select(n, self.word_width)),
                step.b.eq(self.b.word_select(n, self.word_width)),
                step.alone.eq(self.alone),
            ]
        m.d.comb += [
            self.result.eq(Cat(step.result for step in self.steps)),
            self.overflow.eq(Cat(step.overflow for step in self.steps).any()),
        ]
        return m


def block_step(
    *, arch: Arch, value_type: ValueType, op: str, words: int, bits: int | None = None
) -> ReduceStep | BlockStep:
    """The step of a reduction of payloads of this many words; `bits`, of single words, and errors as of
    `ReduceStep`."""
    if words == 1:
        return ReduceStep(arch=arch, value_type=value_type, op=op, bits=bits)
    return BlockStep(arch=arch, value_type=value_type, op=op, words=words)
