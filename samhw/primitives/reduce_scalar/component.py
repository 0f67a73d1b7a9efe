"""reduce_scalar: each innermost fiber becomes one value."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import Float, ValueType
from samhw.primitives.block_sum.component import BlockSum
from samhw.primitives.sum_actor.component import SumActor
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.reduction_step import block_step
from samhw.rtl.site import Site
from samhw.rtl.token import CONTROL, KIND_BITS, LEVEL_BITS, TokenKind, make_token, token_layout, token_width

__all__ = ["Accumulate", "ReduceScalar"]


class Accumulate(SumActor):
    """The actor *accumulate*: one value after the other, in the order of the stream. In `val`.

    Args:
        op: `sum`, `max` or `min`.
        words: those of a block, if values come in blocks.
        value_bits: as of `ReduceStep`, where they do not.

    Raises:
        InputError: the value type has no such reduction, or it takes more than one cycle.
    """

    def __init__(
        self, *, arch: Arch, value_type: ValueType, op: str, words: int = 1, value_bits: int | None = None
    ):
        self.step = block_step(arch=arch, value_type=value_type, op=op, words=words, bits=value_bits)
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


class ReduceScalar(Primitive):
    """In `val`, out `val` one level shallower: *accumulate*, or the blocks of a floating-point sum or of a
    product, and *emit*.

    Args:
        op: `sum`, `max`, `min` or `prod`.
        words: those of a block, if values come in blocks.
        value_bits: as of `ReduceStep`, where they do not.

    Raises:
        InputError: the value type has no such reduction, or `Arch.reduce` gives it a latency that cannot be.
    """

    def __init__(
        self, *, arch: Arch, value_type: ValueType, op: str, words: int = 1, value_bits: int | None = None
    ):
        self.arch = arch
        self.value_bits = value_bits
        self.width = token_width(words * value_type.width)
        self.sums: Accumulate | BlockSum
        if op == "prod" or (op == "sum" and isinstance(value_type, Float)):
            self.sums = BlockSum(arch=arch, value_type=value_type, op=op, words=words)
        else:
            self.sums = Accumulate(
                arch=arch, value_type=value_type, op=op, words=words, value_bits=value_bits
            )
        value = token_layout(self.width)
        super().__init__({"val": value}, {"val": value})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            op=site.params["op"],
            words=site.graph.taken(site.node, "val").words,
            value_bits=site.sum_bits(),
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        width = self.width
        depth = self.arch.internal_depth(self.sums.latency)
        m.submodules.sums = sums = self.sums
        # Above the levels of a stop nothing means anything.
        kept = KIND_BITS + max(width if self.value_bits is None else self.value_bits, LEVEL_BITS)
        m.submodules.sum = sum = Fifo(token_layout(width), depth, kept=(1 << kept) - 1, is_signed=True)
        m.submodules.stop = stop = Fifo(CONTROL, depth)
        m.submodules.val = val = Output(width, latency=self.arch.step, zeros=False)
        wiring.connect(m, wiring.flipped(self.i.val), sums.i.val)
        wiring.connect(m, sums.o.sum, sum.i)
        wiring.connect(m, sums.o.stop, stop.i)
        wiring.connect(m, val.o, wiring.flipped(self.o.val))
        emit = self._emit(m, sum.o, stop.o, val)
        m.d.comb += [
            self.fired.eq(sums.fired | emit.fired),
            self.error.eq(error_bits(overflow=sums.overflow, protocol=sums.protocol | emit.protocol)),
        ]
        return m

    def _emit(
        self, m: Module, sums: wiring.PureInterface, stops: wiring.PureInterface, val: Output
    ) -> FiringTable:
        sum, stop = sums.payload, stops.payload
        half = Signal()
        m.d.comb += val.result.eq(sum.payload)

        table = FiringTable(m, [sums, stops])
        value = make_token(TokenKind.VAL)
        stop_below = make_token(TokenKind.STOP, stop.payload)
        with m.If((sum.kind == TokenKind.VAL) & (stop.kind == TokenKind.EMPTY)):
            table.row(takes=[sums, stops], pushes={val.i: value})
        with m.Elif((sum.kind == TokenKind.VAL) & (stop.kind == TokenKind.STOP) & ~half):
            with table.row(needs=[sums, stops], pushes={val.i: value}):
                m.d.sync += half.eq(1)
        with m.Elif(
            ((sum.kind == TokenKind.VAL) | (sum.kind == TokenKind.EMPTY)) & (stop.kind == TokenKind.STOP)
        ):
            with table.row(takes=[sums, stops], pushes={val.i: stop_below}):
                m.d.sync += half.eq(0)
        with m.Elif((sum.kind == TokenKind.DONE) & (stop.kind == TokenKind.DONE)):
            table.row(takes=[sums, stops], pushes={val.i: make_token(TokenKind.DONE)})
        return table
