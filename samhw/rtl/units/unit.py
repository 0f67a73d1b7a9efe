"""What every numeric unit has in common."""

from amaranth.hdl import Signal
from amaranth.lib.wiring import In, Out

from samhw.errors import InputError
from samhw.rtl.shared import SharedPart

__all__ = ["Unit"]


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
