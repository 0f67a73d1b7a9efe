"""The contract of a channel: what docs/timing.md says of latency, depth and slots, and that tokens survive.

The ideal model has no memory. It counts slots and tokens, and follows one token, which the solver chooses: if
that one comes out after those that were pushed before it, unchanged and at the right time, all do.
"""

from collections.abc import Callable, Mapping

from amaranth.hdl import (
    Array,
    Assert,
    Assume,
    Cat,
    Const,
    Cover,
    Elaboratable,
    Fragment,
    Module,
    Mux,
    Signal,
    Value,
)
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.channel import Fifo
from samhw.rtl.output import Output
from samhw.rtl.token import CONTROL, KIND_BITS, TokenKind
from tests.formal.inside import registers

__all__ = ["ChannelContract"]

_SHALLOW = 32

_ORDER = {
    1: (0, 1),
    2: (0, 1, 3, 2),
    3: (0, 1, 2, 5, 3, 7, 6, 4),
    4: (0, 1, 2, 4, 9, 3, 6, 13, 10, 5, 11, 7, 15, 14, 12, 8),
    5: (
        *(0, 1, 2, 4, 9, 18, 5, 11, 22, 12, 25, 19, 7, 15, 31, 30),
        *(28, 24, 17, 3, 6, 13, 27, 23, 14, 29, 26, 21, 10, 20, 8, 16),
    ),
}
"""The places of a shallow channel, by their width: each is the last one, moved up by a bit."""


class ChannelContract(wiring.Component):
    """An output of latency L and the channel of depth D after it, beside the ideal model.

    Source and sink may stall in any cycle; the source pushes only while there is a slot.

    Members:
        push, token: what is pushed.
        mark: the token that is pushed is the one to follow.
        pop: the sink takes the token at the head.
        ready, head: of the channel.
        taken, stored: of the model: slots, and tokens that have arrived.
        watched, value, ahead: of the model: a token is being followed, which it is, and how many are before
            it.
    """

    def __init__(self, depth: int, latency: int):
        self.depth = depth
        self.latency = latency
        super().__init__(
            {
                "push": In(1),
                "token": In(CONTROL),
                "mark": In(1),
                "pop": In(1),
                "ready": Out(1),
                "head": Out(stream.Signature(CONTROL)),
                "taken": Out(range(depth + 2)),
                "stored": Out(range(depth + 2)),
                "watched": Out(1),
                "value": Out(CONTROL),
                "ahead": Out(range(depth + 2)),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        m.submodules.output = output = Output(8, latency=self.latency)
        channel = Fifo(CONTROL, self.depth, early=(1 << KIND_BITS) - 1)
        wiring.connect(m, output.o, channel.i)
        m.d.comb += [
            Assume(self.ready | ~self.push),
            output.i.push.eq(self.push),
            output.i.token.eq(self.token),
            output.result.eq(self.token.payload),
            self.ready.eq(output.i.ready),
            channel.o.ready.eq(self.pop & (self.stored != 0)),
            self.head.valid.eq(channel.o.valid),
            self.head.payload.eq(channel.o.payload),
        ]
        sent = self._model(m)
        self._promises(m, channel)
        self._invariant(m, channel, sent)
        return m

    def _model(self, m: Module) -> Value:
        """The pushes of the last L - 1 cycles, which are on their way."""
        popped = self.pop & (self.stored != 0)
        sent = Signal(self.latency - 1)
        history = Cat(self.push, sent)
        m.d.sync += [
            sent.eq(history),
            self.taken.eq(self.taken + self.push - popped),
            self.stored.eq(self.stored + history[-1] - popped),
        ]
        with m.If(self.watched & popped):
            m.d.sync += [self.watched.eq(self.ahead != 0), self.ahead.eq(self.ahead - 1)]
        with m.Elif(self.push & self.mark & ~self.watched):
            m.d.sync += [self.watched.eq(1), self.value.eq(self.token), self.ahead.eq(self.taken - popped)]
        return sent

    def _promises(self, m: Module, channel: Fifo) -> None:
        """What is said of a channel, seen from outside."""
        stalled = Signal()
        before = Signal(CONTROL)
        m.d.sync += [stalled.eq(self.head.valid & ~self.pop), before.eq(self.head.payload)]
        m.d.comb += [
            Assert(self.taken <= self.depth),
            # Registers alone decide, so `ready` waits for nothing that happens in this cycle.
            Assert(self.ready == (self.taken < self.depth)),
            Assert(self.head.valid == (self.stored != 0)),
            Assert(channel.full == ~self.ready),
            Assert(channel.empty == ~self.head.valid),
        ]
        with m.If(self.watched & (self.ahead == 0) & self.head.valid):
            m.d.comb += Assert(self.head.payload == self.value)
        with m.If(stalled):
            m.d.comb += Assert(self.head.valid & (self.head.payload == before))
        full = Signal()
        with m.If(self.taken == self.depth):
            m.d.sync += full.eq(1)
        # The token that filled the last slot has come to the head.
        m.d.comb += Cover(
            full & self.watched & (self.ahead == 0) & self.head.valid & (self.value.kind == TokenKind.STOP)
        )

    def _invariant(self, m: Module, channel: Fifo, sent: Value) -> None:
        """What an induction needs beside the promises: how the channel's registers stand to the model."""
        inside = channel.elaborate(None)
        assert isinstance(inside, Module)
        behind = Mux(self.stored == 0, 0, self.stored - 1)
        if self.depth == 1:
            promises = None
        elif self.depth > _SHALLOW:
            promises = self._deep(m, inside, behind)
        else:
            promises = self._shallow(m, inside, behind)
        fragment = Fragment.get(inside, None)
        m.submodules.channel = fragment
        state = registers(fragment)
        on_their_way = sum(sent, start=Const(0))
        m.d.comb += [
            Assert(state["taken"] == self.taken[: len(state["taken"])]),
            Assert(self.taken == self.stored + on_their_way),
            Assert(~self.watched | (self.ahead < self.taken)),
        ]
        if promises is not None:
            promises(state)

    def _deep(self, m: Module, inside: Module, behind: Value) -> Callable[[Mapping[str, Signal]], None]:
        """The tokens after the front lie in a ring of as many places."""
        storage, words = inside.submodules.storage, self.depth - 1
        registered = storage.read_ports[0]
        followed, following = (storage.read_port(domain="comb") for _ in range(2))

        def promise(state: Mapping[str, Signal]) -> None:
            head, tail = state["head"], state["tail"]
            m.d.comb += [
                Assert(state["more"] == (self.stored > 1)),
                Assert(head < words),
                Assert(tail < words),
                Assert(tail == _around(head + behind, words)),
                followed.addr.eq(_around(head + self.ahead - 1, words)),
                following.addr.eq(head),
            ]
            with m.If(self.watched & (self.ahead != 0) & (self.ahead < self.stored)):
                m.d.comb += Assert(followed.data == self.value.as_value())
            with m.If(self.stored > 1):
                m.d.comb += Assert(registered.data == following.data)

        return promise

    def _shallow(self, m: Module, inside: Module, behind: Value) -> Callable[[Mapping[str, Signal]], None]:
        """All tokens lie in a ring, whose places come in an order of their own."""
        early, late = inside.submodules.early, inside.submodules.late
        ports = [memory.read_port(domain="comb") for memory in (early, late)]
        bits = (self.depth - 1).bit_length()
        order = _ORDER[bits]

        def promise(state: Mapping[str, Signal]) -> None:
            front, following = state["places"][1:], state["places"][:-1]
            number = Signal(bits)
            place = Signal(bits)
            m.d.comb += [
                number.eq(Array(order.index(place) for place in range(1 << bits))[following]),
                place.eq(Array(order)[(number + self.ahead - 1)[:bits]]),
                Assert(state["tail"] == Array(order)[(number + behind)[:bits]]),
                *(port.addr.eq(place) for port in ports),
            ]
            with m.If(self.stored != 0):
                m.d.comb += Assert(front == Array(order)[(number - 1)[:bits]])
            with m.If(self.watched & (self.ahead < self.stored)):
                m.d.comb += Assert(Cat(port.data for port in ports) == self.value.as_value())

        return promise


def _around(place: Value, words: int) -> Value:
    """A place that is less than twice around a ring of this many words."""
    return Mux(place >= words, place - words, place)
