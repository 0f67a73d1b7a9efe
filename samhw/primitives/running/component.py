"""running: at each element of a fiber, the reduction of the fiber up to it, or of what is before it."""

from typing import Self

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring

from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import Float, ValueType, start_word
from samhw.primitives.running_actor.component import RunningActor
from samhw.primitives.running_blocks.component import RunningBlocks
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.reduction_step import ReduceStep
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, make_token, token_layout, token_width

__all__ = ["Running"]


class Running(Primitive):
    """In and out `val`: *accumulate*, or the blocks of a floating-point sum or of a product; if `exclusive`,
    *delay* after it.

    Args:
        op: `sum`, `max`, `min` or `prod`.
        exclusive: at an element, what is before it.

    Raises:
        InputError: the value type has no such reduction, or `Arch.reduce` gives it a latency that cannot be.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, exclusive: bool = False):
        self.arch = arch
        self.exclusive = exclusive
        self.width = token_width(value_type.width)
        self.start = start_word(value_type, op)
        self.values: RunningActor
        if op == "prod" or (op == "sum" and isinstance(value_type, Float)):
            self.values = RunningBlocks(arch=arch, value_type=value_type, op=op)
        else:
            self.values = _Accumulate(arch=arch, value_type=value_type, op=op)
        value = token_layout(self.width)
        super().__init__({"val": value}, {"val": value})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(
            arch=site.arch,
            value_type=site.value,
            op=site.params["op"],
            exclusive=site.params.get("exclusive", False),
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.values = values = self.values
        wiring.connect(m, wiring.flipped(self.i.val), values.i.val)
        m.d.comb += [
            self.fired.eq(values.fired),
            self.error.eq(error_bits(overflow=values.overflow, protocol=values.protocol)),
        ]
        if not self.exclusive:
            wiring.connect(m, values.o.val, wiring.flipped(self.o.val))
            return m
        depth = self.arch.internal_depth(values.latency)
        m.submodules.all = all = Fifo(token_layout(self.width), depth)
        m.submodules.delay = delay = _Delay(self.width, latency=self.arch.step, start=self.start)
        wiring.connect(m, values.o.val, all.i)
        wiring.connect(m, all.o, delay.i.all)
        wiring.connect(m, delay.o.val, wiring.flipped(self.o.val))
        m.d.comb += [
            self.fired.eq(values.fired | delay.fired),
            self.error.eq(error_bits(overflow=values.overflow, protocol=values.protocol | delay.protocol)),
        ]
        return m


class _Accumulate(RunningActor):
    """In `val`. One value after the other."""

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str):
        self.step = ReduceStep(arch=arch, value_type=value_type, op=op)
        if self.step.latency != 1:
            raise InputError(
                f"The latency of {op!r} on {value_type} in Arch.reduce is {self.step.latency}; give 1, since "
                "running takes a value in every cycle."
            )
        super().__init__("val", token_width(value_type.width), latency=arch.step + 1)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        head = self.i.val.payload
        acc = Signal.like(step.result)
        first = Signal(init=1)
        # What was accumulated in one cycle leaves in the next, from its register.
        val = self._output(m, "val", registers=1)
        m.d.comb += [
            step.a.eq(acc),
            step.b.eq(head.payload),
            step.alone.eq(first),
            val.result.eq(acc),
        ]
        table = FiringTable(m, [self.i.val])
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL, TokenKind.EMPTY):
                with table.row(takes=[self.i.val], pushes={val.i: make_token(TokenKind.VAL)}):
                    m.d.comb += self.overflow.eq(step.overflow)
                    m.d.sync += [acc.eq(step.result), first.eq(0)]
            with m.Default():
                with table.row(takes=[self.i.val], pushes={val.i: make_token(head.kind, head.payload[:8])}):
                    m.d.sync += first.eq(1)
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


class _Delay(RunningActor):
    """In `all`. Gives at each element what came for the one before it."""

    def __init__(self, width: int, *, latency: int, start: int):
        self.start = start
        super().__init__("all", width, latency=latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        head = self.i.all.payload
        x = Signal(self.width, init=self.start)
        val = self._output(m, "val")
        m.d.comb += val.result.eq(x)
        table = FiringTable(m, [self.i.all])
        with m.If(head.kind != TokenKind.EMPTY):
            token = make_token(head.kind, head.payload[:8])
            with table.row(takes=[self.i.all], pushes={val.i: token}):
                with m.If(head.kind == TokenKind.VAL):
                    m.d.sync += x.eq(head.payload)
                with m.Else():
                    m.d.sync += x.eq(self.start)
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m
