"""The actor *accumulate* of reduce_scalar: one value after the other, in the order of the stream."""

from amaranth.hdl import Elaboratable, Module, Signal

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.rtl.block_step import block_step
from samhw.rtl.firing import FiringTable
from samhw.rtl.sum_actor import SumActor
from samhw.rtl.token import TokenKind, token_layout, token_width

__all__ = ["Accumulate"]


class Accumulate(SumActor):
    """In `val`.

    Args:
        op: `sum`, `max` or `min`.
        words: those of a block, if values come in blocks.

    Raises:
        InputError: the value type has no such reduction, or it takes more than one cycle.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, words: int = 1):
        self.step = block_step(arch=arch, value_type=value_type, op=op, words=words)
        if self.step.latency != 1:
            raise InputError(
                f"The latency of {op!r} on {value_type} in Arch.reduce is {self.step.latency}; give 1, since "
                "reduce_scalar takes a value in every cycle."
            )
        width = token_width(words * value_type.width)
        super().__init__({"val": token_layout(width)}, width=width, latency=arch.step)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        sum, stop = self._outputs(m)
        head = self.i.val.payload
        acc = Signal.like(step.result)
        first = Signal(init=1)
        # The payload of an EMPTY is zero, as it should count.
        m.d.comb += [step.a.eq(acc), step.b.eq(head.payload), step.alone.eq(first), sum.result.eq(acc)]

        table = FiringTable(m, [self.i.val])
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL, TokenKind.EMPTY), table.row(takes=[self.i.val]):
                m.d.comb += self.overflow.eq(step.overflow)
                m.d.sync += [acc.eq(step.result), first.eq(0)]
            self._end_rows(m, table, sum, stop, [acc.eq(0), first.eq(1)])
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m
