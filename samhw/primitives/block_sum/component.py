"""The sum or product of a fiber in blocks of eight: one value a cycle, with a unit of up to eight cycles.

A unit that needs the result of the last cycle cannot take a value a cycle. So *mark* tells of each value
whether it is the last of its fiber, three rounds of *pair* add neighbours, each halving the rate, and what is
left for *chain*, which adds the blocks one after the other, is at most one sum in eight cycles.
"""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.primitives.sum_actor.component import SumActor
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.reduction_step import BlockStep, ReduceStep, block_step
from samhw.rtl.token import CONTROL, TokenKind, make_token, token_layout, token_width

__all__ = ["BlockSum"]

_ROUNDS = 3


class BlockSum(SumActor):
    """In `val`: the actors *mark*, *pair0*, *pair1*, *pair2* and *chain*, joined by channels.

    Args:
        op: `sum` or `prod`.
        words: those of a block, if values come in blocks.

    Raises:
        InputError: `Arch.reduce` gives a step fewer cycles than the unit needs.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType, op: str, words: int = 1):
        self.arch = arch
        width = token_width(words * value_type.width)
        steps = [block_step(arch=arch, value_type=value_type, op=op, words=words) for _ in range(_ROUNDS + 1)]
        self.mark = _Mark(width, latency=arch.step)
        self.pairs = [_Pair(width, step) for step in steps[:-1]]
        self.chain = _Chain(width, steps[-1])
        super().__init__({"val": token_layout(width)}, width=width, latency=self.chain.latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.mark = self.mark
        wiring.connect(m, wiring.flipped(self.i.val), self.mark.i.val)
        actors: list[SumActor] = [self.mark, *self.pairs, self.chain]
        depths = [self.arch.internal_depth(self.arch.step)]
        depths += [self.arch.internal_depth(self.latency)] * (_ROUNDS - 1)
        # The chain waits for its own sum while the next block comes in.
        depths += [2 * self.latency + 2]
        for k, depth in enumerate(depths):
            source, sink = actors[k : k + 2]
            m.submodules["chain" if sink is self.chain else f"pair{k}"] = sink
            m.submodules[f"sum{k}"] = sums = Fifo(token_layout(self.width), depth)
            m.submodules[f"stop{k}"] = stops = Fifo(CONTROL, depth)
            wiring.connect(m, source.o.sum, sums.i)
            wiring.connect(m, source.o.stop, stops.i)
            wiring.connect(m, sums.o, sink.i.sum)
            wiring.connect(m, stops.o, sink.i.stop)
        wiring.connect(m, self.chain.o.sum, wiring.flipped(self.o.sum))
        wiring.connect(m, self.chain.o.stop, wiring.flipped(self.o.stop))
        m.d.comb += [
            self.fired.eq(Cat(actor.fired for actor in actors).any()),
            self.protocol.eq(Cat(actor.protocol for actor in actors).any()),
            self.overflow.eq(Cat(actor.overflow for actor in actors).any()),
        ]
        return m


class _Mark(SumActor):
    """In `val`. Holds each payload back until it is known whether it is the last of its fiber."""

    def __init__(self, width: int, *, latency: int):
        super().__init__({"val": token_layout(width)}, width=width, latency=latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        sum, stop = self._outputs(m)
        head = self.i.val.payload
        have = Signal()
        x = Signal(self.width)  # zero without `have`, as an empty fiber's sum
        m.d.comb += sum.result.eq(x)

        table = FiringTable(m, [self.i.val])
        value = make_token(TokenKind.VAL)
        with m.Switch(head.kind):
            with m.Case(TokenKind.VAL, TokenKind.EMPTY):
                pushes = {sum.i: value, stop.i: value}
                with table.row(takes=[self.i.val], pushes=pushes, pushes_if=dict.fromkeys(pushes, have)):
                    m.d.sync += [x.eq(head.payload), have.eq(1)]
            self._end_rows(m, table, sum, stop, [x.eq(0), have.eq(0)])
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


class _Adder(SumActor):
    """An actor with the inputs `sum` and `stop` and an adder after its outputs."""

    def __init__(self, width: int, step: ReduceStep | BlockStep):
        self.step = step
        super().__init__({"sum": token_layout(width), "stop": CONTROL}, width=width, latency=step.latency)

    def _heads(self) -> tuple[data.View, data.View]:
        return self.i.sum.payload, self.i.stop.payload

    def _goes_on(self) -> Value:
        """The element at the head is not the last of its fiber."""
        sum, stop = self._heads()
        return (sum.kind == TokenKind.VAL) & (stop.kind == TokenKind.VAL)

    def _ends(self) -> Value:
        """The element at the head is the last of its fiber."""
        sum, stop = self._heads()
        return (sum.kind == TokenKind.VAL) & ((stop.kind == TokenKind.EMPTY) | (stop.kind == TokenKind.STOP))

    def _passes(self) -> Value:
        """The heads tell of no element."""
        sum, stop = self._heads()
        return ((sum.kind == TokenKind.EMPTY) & (stop.kind == TokenKind.STOP)) | (
            (sum.kind == TokenKind.DONE) & (stop.kind == TokenKind.DONE)
        )


class _Pair(_Adder):
    """In `sum`, `stop`. Adds every other element of a fiber to the one before it."""

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        sum, stop = self._outputs(m, registers=self.latency - 1)
        sum_head, stop_head = self._heads()
        have = Signal()
        x = Signal.like(step.a, reset_less=True)
        m.d.comb += [
            step.a.eq(x),
            step.b.eq(sum_head.payload),
            step.alone.eq(~have),
            sum.result.eq(step.result),
            self.overflow.eq(sum.used & step.overflow),
        ]

        both = [self.i.sum, self.i.stop]
        pushes = {sum.i: make_token(sum_head.kind), stop.i: stop_head.as_value()}
        table = FiringTable(m, both)
        with m.If(self._goes_on()):
            with table.row(takes=both, pushes=pushes, pushes_if=dict.fromkeys(pushes, have)):
                m.d.sync += [x.eq(sum_head.payload), have.eq(~have)]
        with m.Elif(self._ends()), table.row(takes=both, pushes=pushes):
            m.d.sync += have.eq(0)
        with m.Elif(self._passes()):
            table.row(takes=both, pushes=pushes)
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


class _Chain(_Adder):
    """In `sum`, `stop`. Adds the blocks of a fiber, each to the sum of those before it, which comes back
    through the channel *loop*."""

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        registers = self.latency - 1
        sum, stop = self._outputs(m, registers=registers)
        m.submodules.loop = loop = Output(self.width, latency=self.latency, registers=registers)
        m.submodules.partial = partial = Fifo(token_layout(self.width), 2)
        wiring.connect(m, loop.o, partial.i)
        sum_head, stop_head = self._heads()
        have = Signal()
        looped = Signal()
        x = Signal.like(step.a, reset_less=True)
        others = Signal()  # the element at the head is not the first of its fiber
        m.d.comb += [
            others.eq(have | looped),
            step.a.eq(Mux(looped, partial.o.payload.payload, x)),
            step.b.eq(sum_head.payload),
            step.alone.eq(~others),
            sum.result.eq(step.result),
            loop.result.eq(step.result),
            self.overflow.eq((sum.used | loop.used) & step.overflow),
        ]

        both = [self.i.sum, self.i.stop]
        pushes = {sum.i: make_token(sum_head.kind), stop.i: stop_head.as_value()}
        table = FiringTable(m, both)
        with m.If(self._goes_on()):
            with table.row(
                takes=both,
                takes_if={partial.o: looped},
                pushes={loop.i: make_token(TokenKind.VAL)},
                pushes_if={loop.i: others},
            ):
                m.d.sync += [x.eq(sum_head.payload), have.eq(~others), looped.eq(others)]
        with m.Elif(self._ends()):
            with table.row(takes=both, takes_if={partial.o: looped}, pushes=pushes):
                m.d.sync += [have.eq(0), looped.eq(0)]
        with m.Elif(self._passes()):
            table.row(takes=both, pushes=pushes)
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m
