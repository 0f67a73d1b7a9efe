"""What every numeric unit has in common, the registers between its stages, and units in a chain."""

from amaranth.hdl import Elaboratable, Module, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.rtl.shared import SharedPart

__all__ = ["Chain", "Unit", "delayed"]


class Unit(SharedPart):
    """A pipeline from operands to a result; it takes operands in every cycle and never stalls.

    Args:
        width: bits of the operands.
        operands: their names, in the order of `samhw.graph.numerics`: "a", "a b" or "a b c".
        registers: the result belongs to the operands of that many cycles ago; 0 for a unit without state.
        result_width: bits of the result, if not those of the operands.

    Members:
        result: the word that `samhw.graph.numerics` defines.
        overflow: the result is out of the range of a type that does not saturate; `result` means nothing
            then.
    """

    result: Signal
    overflow: Signal

    def __init__(self, width: int, operands: str, registers: int, *, result_width: int | None = None):
        self.width = width
        self.registers = registers
        members = {name: In(width) for name in operands.split()}
        super().__init__({**members, "result": Out(result_width or width), "overflow": Out(1)})

    def check_latency(self, latency: int, field: str) -> None:
        """Raises `InputError` that names the field of `Arch` if the unit needs more cycles."""
        needed = self.registers + 1
        if latency < needed:
            raise InputError(
                f"{field} is {latency}; give at least {needed} for operands of {self.width} bits."
            )


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


class Chain(Unit):
    """Units with the operand `a`, each of the result of the one before, with a register between them."""

    def __init__(self, *units: Unit):
        self.units = units
        registers = sum(unit.registers for unit in units) + len(units) - 1
        super().__init__(units[0].width, "a", registers, result_width=len(units[-1].result))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        word: Value = self.a
        for k, unit in enumerate(self.units):
            m.submodules += unit
            m.d.comb += unit.a.eq(delayed(m, word) if k else word)
            word = unit.result
        m.d.comb += [self.result.eq(word), self.overflow.eq(self.units[-1].overflow)]
        return m
