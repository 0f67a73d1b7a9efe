"""Channels: FIFOs whose slots are counted at the push, so that ready and valid are both registered."""

from amaranth.hdl import Array, Elaboratable, Module, Mux, Shape, ShapeLike, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

__all__ = ["Channel", "PushSignature"]


class PushSignature(wiring.Signature):
    """An output of an actor, whose operation may take L cycles.

    * `push`: the actor fires in this cycle t and takes a slot of every channel behind the output. Only while `ready`.
    * `ready`: every channel behind the output has a free slot; comes from registers.
    * `strobe`, `token`: in cycle t + L - 1, the token that was pushed in cycle t. With L = 1 `strobe` is `push`.
    """

    def __init__(self, shape: ShapeLike):
        self.shape = shape
        super().__init__({"push": Out(1), "ready": In(1), "strobe": Out(1), "token": Out(shape)})


class Channel(wiring.Component):
    """A FIFO of `depth` tokens. A slot is taken at the push and is free again the cycle after the pop.

    A token that is strobed in cycle t is at the output from cycle t + 1 on; with an operation of L - 1 cycles before the
    strobe, a token pushed in t is available in t + L.
    """

    def __init__(self, shape: ShapeLike, depth: int):
        self.shape = shape
        self.depth = depth
        super().__init__({"i": In(PushSignature(shape)), "o": Out(stream.Signature(shape)), "empty": Out(1), "full": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        pop = Signal()
        taken = Signal(range(self.depth + 1))
        m.d.comb += [
            pop.eq(self.o.valid & self.o.ready),
            self.i.ready.eq(taken != self.depth),
            self.full.eq(taken == self.depth),
            self.empty.eq(~self.o.valid),
        ]
        m.d.sync += taken.eq(taken + self.i.push - pop)
        if self.depth <= 2:
            self._registers(m, pop)
        else:
            self._memory(m, pop)
        return m

    def _registers(self, m: Module, pop: Signal) -> None:
        """One or two tokens: the head is a register of its own, the second word moves up when it is popped."""
        stored = Signal(range(self.depth + 1))
        words = Array(Signal(Shape.cast(self.shape), name=f"word{n}") for n in range(self.depth))
        m.d.comb += [self.o.valid.eq(stored != 0), self.o.payload.eq(words[0])]
        m.d.sync += stored.eq(stored + self.i.strobe - pop)
        with m.If(pop):
            m.d.sync += words[0].eq(words[-1])
        with m.If(self.i.strobe):
            m.d.sync += words[(stored - pop)[: ceil_log2(self.depth) or 1]].eq(self.i.token)

    def _memory(self, m: Module, pop: Signal) -> None:
        """More tokens: a memory whose read port runs one ahead, and sees a word that is written in the same cycle."""
        m.submodules.storage = storage = memory.Memory(shape=Shape.cast(self.shape), depth=self.depth, init=[])
        write = storage.write_port()
        read = storage.read_port(transparent_for=(write,))
        stored = Signal(range(self.depth + 1))
        head = Signal(range(self.depth))
        tail = Signal(range(self.depth))
        following = Signal(range(self.depth))
        m.d.comb += [
            following.eq(Mux(head == self.depth - 1, 0, head + 1)),
            read.addr.eq(Mux(pop, following, head)),
            read.en.eq(1),
            write.addr.eq(tail),
            write.data.eq(self.i.token),
            write.en.eq(self.i.strobe),
            self.o.valid.eq(stored != 0),
            self.o.payload.eq(read.data),
        ]
        m.d.sync += stored.eq(stored + self.i.strobe - pop)
        with m.If(pop):
            m.d.sync += head.eq(following)
        with m.If(self.i.strobe):
            m.d.sync += tail.eq(Mux(tail == self.depth - 1, 0, tail + 1))
