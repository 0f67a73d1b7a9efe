"""The running sum or product of a fiber in blocks of eight: a value a cycle, with units of up to eight.

Three rounds of *spread* make of each element the result of its block up to it: in round k the last element of
the first half of a group of 2^(k+1) goes into every element of the second half. *chain* adds up whole blocks,
one in eight cycles, and *add* gives each element the blocks before its own.
"""

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.primitives.block_actors.component import AddCarry, ChainBlocks
from samhw.primitives.running_actor.component import RunningActor
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.reduction_step import ReduceStep
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
        self.chain = ChainBlocks(width, chain, {"total": "b"}, before="a")
        self.add = AddCarry(width, add, {"val": "b"}, before="a", rounds=_ROUNDS)
        super().__init__("val", width, latency=add.latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        near = self.arch.internal_depth(self.latency)
        # After the last round a block waits for the sum of those before it.
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
