"""What running_blocks and recur have in common: the actors after their rounds, which join blocks."""

from collections.abc import Mapping

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring

from samhw.primitives.running_actor.component import RunningActor
from samhw.rtl.channel import Fifo
from samhw.rtl.firing import FiringTable
from samhw.rtl.output import Output
from samhw.rtl.reduction_step import ReduceStep, RescaleStep
from samhw.rtl.token import TokenKind, make_token, token_layout

__all__ = ["AddCarry", "ChainBlocks"]


class ChainBlocks(RunningActor):
    """Out `carry`. Joins the blocks of a fiber, each to those before it, which come back through the channel
    *loop*.

    Args:
        width: bits of the payload of a token.
        operands: the inputs, the values last, and which operand of `step` each is.
        before: the operand that the blocks before are.
    """

    def __init__(
        self, width: int, step: ReduceStep | RescaleStep, operands: Mapping[str, str], *, before: str
    ):
        self.step = step
        self.operands = operands
        self.before = before
        super().__init__(" ".join(operands), width, latency=step.latency, outputs=("carry",))

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        registers = self.latency - 1
        carry = self._output(m, "carry", registers=registers)
        m.submodules.loop = loop = Output(self.width, latency=self.latency, registers=registers)
        m.submodules.partial = partial = Fifo(token_layout(self.width), 2)
        wiring.connect(m, loop.o, partial.i)
        inputs = [getattr(self.i, name) for name in self.operands]
        head = inputs[-1].payload
        looped = Signal()
        _connect(m, self)
        m.d.comb += [
            getattr(step, self.before).eq(partial.o.payload.payload),
            step.alone.eq(~looped),
            carry.result.eq(step.result),
            loop.result.eq(step.result),
            self.overflow.eq(carry.used & step.overflow),
        ]
        value = make_token(TokenKind.VAL)
        table = FiringTable(m, inputs)
        with m.If(head.kind == TokenKind.VAL):
            pushes = {carry.i: value, loop.i: value}
            with table.row(takes=inputs, takes_if={partial.o: looped}, pushes=pushes):
                m.d.sync += looped.eq(1)
        with m.Elif(head.kind == TokenKind.STOP):
            with table.row(takes=inputs, takes_if={partial.o: looped}):
                m.d.sync += looped.eq(0)
        with m.Elif(head.kind == TokenKind.DONE):
            table.row(takes=inputs, pushes={carry.i: make_token(TokenKind.DONE)})
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


class AddCarry(RunningActor):
    """Out `val`. Joins each element of a block to what the blocks before its own have become, which comes in
    `carry`.

    Args:
        width: bits of the payload of a token.
        operands: the other inputs, the values last, and which operand of `step` each is.
        before: the operand that the blocks before are.
        rounds: a block has 2 to the power of this many elements.
    """

    def __init__(
        self,
        width: int,
        step: ReduceStep | RescaleStep,
        operands: Mapping[str, str],
        *,
        before: str,
        rounds: int,
    ):
        self.step = step
        self.operands = operands
        self.before = before
        self.rounds = rounds
        super().__init__(" ".join([*operands, "carry"]), width, latency=step.latency)

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.step = step = self.step
        val = self._output(m, "val", registers=self.latency - 1)
        inputs = [getattr(self.i, name) for name in self.operands]
        head, carry = inputs[-1].payload, self.i.carry.payload
        before = getattr(step, self.before)
        place = Signal(self.rounds)
        behind = Signal()
        kept = Signal.like(before, reset_less=True)
        carried = Signal()  # a block begins, or would, after whole blocks
        _connect(m, self)
        m.d.comb += [
            carried.eq(behind & (place == 0)),
            before.eq(Mux(carried, carry.payload, kept)),
            step.alone.eq(~behind),
            val.result.eq(step.result),
            self.overflow.eq(val.used & step.overflow),
        ]
        token = make_token(head.kind, head.payload[:8])
        takes = {self.i.carry: carried}
        table = FiringTable(m, inputs)
        with m.If(head.kind == TokenKind.VAL):
            with table.row(takes=inputs, takes_if=takes, pushes={val.i: make_token(TokenKind.VAL)}):
                m.d.sync += [place.eq(place + 1), kept.eq(before)]
                with m.If(place.all()):
                    m.d.sync += behind.eq(1)
        with m.Elif(head.kind == TokenKind.STOP):
            with table.row(takes=inputs, takes_if=takes, pushes={val.i: token}):
                m.d.sync += [place.eq(0), behind.eq(0)]
        with m.Elif(head.kind == TokenKind.DONE):
            table.row(takes=[*inputs, self.i.carry], pushes={val.i: token})
        m.d.comb += [self.fired.eq(table.fired), self.protocol.eq(table.protocol)]
        return m


def _connect(m: Module, actor: ChainBlocks | AddCarry) -> None:
    """Makes of the payloads at the inputs the operands of the step."""
    for name, operand in actor.operands.items():
        m.d.comb += getattr(actor.step, operand).eq(getattr(actor.i, name).payload.payload)
