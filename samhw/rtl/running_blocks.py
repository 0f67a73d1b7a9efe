"""The running sum or product of a fiber in blocks of eight: a value a cycle, with units of up to eight.

Three rounds of *spread* make of each element the result of its block up to it: in round k the last element of
the first half of a group of 2^(k+1) goes into every element of the second half. *chain* adds up whole blocks,
one in eight cycles, and *add* gives each element the blocks before its own.
"""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.numerics import ValueType
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.reduce_step import ReduceStep
from samhw.rtl.running_actor import RunningActor
from samhw.rtl.token import TokenKind, is_payload, make_token, token_layout, token_width

__all__ = ["RunningBlocks"]

_ROUNDS = 3


class RunningBlocks(RunningActor):
    """In and out `val`: the actors *spread0*, *spread1*, *spread2*, *chain* and *add*, joined by channels.

    Args:
        op: `sum` or `prod`.

    Raises:
        InputError: `Arch.reduce` gives a step fewer cycles than the unit needs.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str):
        self.arch = arch
        width = token_width(value_type.width)
        *rounds, chain, add = (
            ReduceStep(arch=arch, value_type=value_type, op=op) for _ in range(_ROUNDS + 2)
        )
        self.spreads = [_Spread(width, step, k) for k, step in enumerate(rounds)]
        self.chain = _Chain(width, chain)
        self.add = _Add(width, add)
        super().__init__("val", width, latency=add.latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        near = self.arch.internal_depth(self.latency)
        # Behind the last round a block waits for the sum of those before it.
        waiting = 2 * self.latency + 2

        def joined(name: str, source: wiring.PureInterface, sink: wiring.PureInterface, depth: int) -> None:
            m.submodules[f"{name}_channel"] = channel = Fifo(token_layout(self.width), depth)
            wiring.connect(m, source, channel.i)
            wiring.connect(m, channel.o, sink)

        first, second, last = self.spreads
        m.submodules.spread0, m.submodules.spread1, m.submodules.spread2 = first, second, last
        m.submodules.chain, m.submodules.add = self.chain, self.add
        wiring.connect(m, wiring.flipped(self.i.val), first.i.val)
        joined("val1", first.o.val, second.i.val, near)
        joined("val2", second.o.val, last.i.val, near)
        joined("val3", last.o.val, self.add.i.val, waiting)
        joined("total", last.o.total, self.chain.i.total, waiting)
        joined("carry", self.chain.o.carry, self.add.i.carry, near)
        wiring.connect(m, self.add.o.val, wiring.flipped(self.o.val))
        actors = [*self.spreads, self.chain, self.add]
        m.d.comb += [
            self.fired.eq(Cat(actor.fired for actor in actors).any()),
            self.protocol.eq(Cat(actor.protocol for actor in actors).any()),
            self.overflow.eq(Cat(actor.overflow for actor in actors).any()),
        ]
        return m


class _Spread(RunningActor):
    """In `val`, out `val`, and in the last round `total`: whole blocks and all ends."""

    def __init__(self, width: int, step: ReduceStep, k: int):
        self.step = step
        self.k = k
        outputs = ("val", "total") if k == _ROUNDS - 1 else ("val",)
        super().__init__("val", width, latency=step.latency, outputs=outputs)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        outputs: list[Output] = [
            self._output(m, name, registers=self.latency - 1) for name in self.o.signature.members
        ]
        val, totals = outputs[0], outputs[1:]
        head = self.i.val.payload
        place = Signal(_ROUNDS)
        x = Signal.like(step.a, reset_less=True)
        m.d.comb += [
            step.a.eq(x),
            step.b.eq(head.payload),
            step.alone.eq(~place[self.k]),
            self.overflow.eq(val.used & step.overflow),
            *(output.result.eq(step.result) for output in outputs),
        ]
        value = make_token(TokenKind.VAL)
        end = make_token(head.kind, head.payload[:8])
        table = FiringTable(m, [self.i.val])
        with m.If(is_payload(head)):
            pushes = dict.fromkeys((output.i for output in outputs), value)
            whole = {total.i: place.all() for total in totals}
            with table.row(takes=[self.i.val], pushes=pushes, pushes_if=whole):
                m.d.sync += place.eq(place + 1)
                with m.If(place[: self.k].all() & ~place[self.k] if self.k else ~place[0]):
                    m.d.sync += x.eq(head.payload)
        with m.Else():
            pushes = dict.fromkeys((output.i for output in outputs), end)
            with table.row(takes=[self.i.val], pushes=pushes):
                m.d.sync += place.eq(0)
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


class _Chain(RunningActor):
    """In `total`, out `carry`. Adds the blocks of a fiber, each to those before it, which come back through
    the channel *loop*."""

    def __init__(self, width: int, step: ReduceStep):
        self.step = step
        super().__init__("total", width, latency=step.latency, outputs=("carry",))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        registers = self.latency - 1
        carry = self._output(m, "carry", registers=registers)
        m.submodules.loop = loop = Output(self.width, latency=self.latency, registers=registers)
        m.submodules.partial = partial = Fifo(token_layout(self.width), 2)
        wiring.connect(m, loop.o, partial.i)
        head = self.i.total.payload
        looped = Signal()
        m.d.comb += [
            step.a.eq(partial.o.payload.payload),
            step.b.eq(head.payload),
            step.alone.eq(~looped),
            carry.result.eq(step.result),
            loop.result.eq(step.result),
            self.overflow.eq(carry.used & step.overflow),
        ]
        value = make_token(TokenKind.VAL)
        table = FiringTable(m, [self.i.total])
        with m.If(head.kind == TokenKind.VAL):
            pushes = {carry.i: value, loop.i: value}
            with table.row(takes=[self.i.total], takes_if={partial.o: looped}, pushes=pushes):
                m.d.sync += looped.eq(1)
        with m.Elif(head.kind == TokenKind.STOP):
            with table.row(takes=[self.i.total], takes_if={partial.o: looped}):
                m.d.sync += looped.eq(0)
        with m.Elif(head.kind == TokenKind.DONE):
            table.row(takes=[self.i.total], pushes={carry.i: make_token(TokenKind.DONE)})
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


class _Add(RunningActor):
    """In `val` and `carry`, out `val`. Adds to each element what the blocks before its own add up to."""

    def __init__(self, width: int, step: ReduceStep):
        self.step = step
        super().__init__("val carry", width, latency=step.latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        val = self._output(m, "val", registers=self.latency - 1)
        head, carry = self.i.val.payload, self.i.carry.payload
        place = Signal(_ROUNDS)
        behind = Signal()
        before = Signal.like(step.a, reset_less=True)
        carried = Signal()  # a block begins, or would, behind whole blocks
        m.d.comb += [
            carried.eq(behind & (place == 0)),
            step.a.eq(Mux(carried, carry.payload, before)),
            step.b.eq(head.payload),
            step.alone.eq(~behind),
            val.result.eq(step.result),
            self.overflow.eq(val.used & step.overflow),
        ]
        token = make_token(head.kind, head.payload[:8])
        takes = {self.i.carry: carried}
        table = FiringTable(m, [self.i.val])
        with m.If(head.kind == TokenKind.VAL):
            with table.row(takes=[self.i.val], takes_if=takes, pushes={val.i: make_token(TokenKind.VAL)}):
                m.d.sync += [place.eq(place + 1), before.eq(step.a)]
                with m.If(place.all()):
                    m.d.sync += behind.eq(1)
        with m.Elif(head.kind == TokenKind.STOP):
            with table.row(takes=[self.i.val], takes_if=takes, pushes={val.i: token}):
                m.d.sync += [place.eq(0), behind.eq(0)]
        with m.Elif(head.kind == TokenKind.DONE):
            table.row(takes=[self.i.val, self.i.carry], pushes={val.i: token})
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m
