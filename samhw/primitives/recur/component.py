"""recur: at each element of a fiber, a sum that each element rescales.

As running_blocks.py, of elements that are a factor and a value, in blocks of sixteen.
"""

from typing import Self

from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import wiring

from samhw.graph import Arch
from samhw.graph.numerics import ValueType
from samhw.primitives.block_actors.component import AddCarry, ChainBlocks
from samhw.primitives.running_actor.component import RunningActor
from samhw.rtl.actor import Primitive, error_bits
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.reduction_step import RescaleStep
from samhw.rtl.site import Site
from samhw.rtl.token import TokenKind, is_payload, make_token, same_token, token_layout, token_width

__all__ = ["Recur"]

_ROUNDS = 4


class Recur(Primitive):
    """In `factor` and `val`, out `val`: *spread0* to *spread3*, *chain* and *add*, joined by channels.

    Raises:
        InputError: `Arch.reduce` gives a step fewer cycles than the units need.
    """

    def __init__(self, *, arch: Arch, value_type: ValueType):
        self.arch = arch
        self.width = token_width(value_type.width)
        steps = [RescaleStep(arch=arch, value_type=value_type, joins=True) for _ in range(_ROUNDS)]
        self.spreads = [_Spread(self.width, step, k) for k, step in enumerate(steps)]
        self.chain = ChainBlocks(
            self.width,
            RescaleStep(arch=arch, value_type=value_type),
            {"factors": "r", "values": "x"},
            before="h",
        )
        self.add = AddCarry(
            self.width,
            RescaleStep(arch=arch, value_type=value_type),
            {"factor": "r", "val": "x"},
            before="h",
            rounds=_ROUNDS,
        )
        value = token_layout(self.width)
        super().__init__({"factor": value, "val": value}, {"val": value})

    @classmethod
    def at(cls, site: Site) -> Self:
        return cls(arch=site.arch, value_type=site.value)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        latency = self.add.latency
        near = self.arch.internal_depth(latency)
        # After the last round a block waits for what is before it.
        waiting = 2 * latency + 2

        def joined(name: str, source: wiring.PureInterface, sink: wiring.PureInterface, depth: int) -> None:
            m.submodules[f"{name}_channel"] = channel = Fifo(token_layout(self.width), depth)
            wiring.connect(m, source, channel.i)
            wiring.connect(m, channel.o, sink)

        for k, spread in enumerate(self.spreads):
            m.submodules[f"spread{k}"] = spread
        m.submodules.chain, m.submodules.add = self.chain, self.add
        wiring.connect(m, wiring.flipped(self.i.factor), self.spreads[0].i.factor)
        wiring.connect(m, wiring.flipped(self.i.val), self.spreads[0].i.val)
        sinks: list[RunningActor] = [*self.spreads[1:], self.add]
        for k, (spread, sink) in enumerate(zip(self.spreads, sinks, strict=True)):
            depth = waiting if sink is self.add else near
            joined(f"factor{k + 1}", spread.o.factor, sink.i.factor, depth)
            joined(f"val{k + 1}", spread.o.val, sink.i.val, depth)
        joined("factors", self.spreads[-1].o.factors, self.chain.i.factors, waiting)
        joined("values", self.spreads[-1].o.values, self.chain.i.values, waiting)
        joined("carry", self.chain.o.carry, self.add.i.carry, near)
        wiring.connect(m, self.add.o.val, wiring.flipped(self.o.val))
        actors = [*self.spreads, self.chain, self.add]
        m.d.comb += [
            self.fired.eq(Cat(actor.fired for actor in actors).any()),
            self.error.eq(
                error_bits(
                    overflow=Cat(actor.overflow for actor in actors).any(),
                    protocol=Cat(actor.protocol for actor in actors).any(),
                )
            ),
        ]
        return m


class _Spread(RunningActor):
    """In and out `factor` and `val`, and in the last round out `factors` and `values`: whole blocks and all
    ends."""

    def __init__(self, width: int, step: RescaleStep, k: int):
        self.step = step
        self.k = k
        whole = ("factors", "values") if k == _ROUNDS - 1 else ()
        super().__init__("factor val", width, latency=step.latency, outputs=("factor", "val", *whole))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        outputs: dict[str, Output] = {
            name: self._output(m, name, registers=self.latency - 1) for name in self.o.signature.members
        }
        factor, head = self.i.factor.payload, self.i.val.payload
        place = Signal(_ROUNDS)
        p, x = Signal.like(step.p, reset_less=True), Signal.like(step.h, reset_less=True)
        m.d.comb += [
            step.p.eq(p),
            step.h.eq(x),
            step.r.eq(factor.payload),
            step.x.eq(head.payload),
            step.alone.eq(~place[self.k]),
            self.overflow.eq(outputs["val"].used & step.overflow),
        ]
        for name, output in outputs.items():
            m.d.comb += output.result.eq(step.factor if name in ("factor", "factors") else step.result)
        inputs = [self.i.factor, self.i.val]
        table = FiringTable(m, inputs)
        with m.If(is_payload(head)):
            pushes = dict.fromkeys((output.i for output in outputs.values()), make_token(TokenKind.VAL))
            whole = {outputs[name].i: place.all() for name in ("factors", "values") if name in outputs}
            with table.row(agree=is_payload(factor), takes=inputs, pushes=pushes, pushes_if=whole):
                m.d.sync += place.eq(place + 1)
                with m.If((place[: self.k].all() if self.k else 1) & ~place[self.k]):
                    m.d.sync += [p.eq(factor.payload), x.eq(head.payload)]
        with m.Else():
            end = make_token(head.kind, head.payload[:8])
            pushes = dict.fromkeys((output.i for output in outputs.values()), end)
            with table.row(agree=same_token(factor, head), takes=inputs, pushes=pushes):
                m.d.sync += place.eq(0)
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m
