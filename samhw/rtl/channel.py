"""Channels: FIFOs whose slots are counted at the push, so that ready and valid are both registered."""

from amaranth.hdl import Const, Elaboratable, Module, Mux, Shape, ShapeLike, Signal, Value, ValueLike
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.shared import Shared

__all__ = ["Fifo", "PushSignature"]


_SHALLOW = 32
"""Channels up to this depth are made of memory that is read without a clock, deeper ones of block memory."""


class PushSignature(wiring.Signature):
    """An output of an actor, whose operation may take L cycles.

    * `push`: the actor fires in this cycle t and takes a slot of every channel behind the output. Only while
    `ready`.
    * `ready`: every channel behind the output has a free slot; comes from registers.
    * `strobe`, `token`: in cycle t + L - 1, the token that was pushed in cycle t. With L = 1 `strobe` is
    `push`.
    """

    def __init__(self, shape: ShapeLike):
        self.shape = shape
        super().__init__({"push": Out(1), "ready": In(1), "strobe": Out(1), "token": Out(shape)})


class Fifo(Shared):
    """A FIFO of `depth` tokens. A slot is taken at the push and is free again the cycle after the pop.

    A token that is strobed in cycle t is at the output from cycle t + 1 on; with an operation of L - 1 cycles
    before the strobe, a token pushed in t is available in t + L.
    """

    def __init__(self, shape: ShapeLike, depth: int):
        self.shape = shape
        self.depth = depth
        super().__init__(
            {
                "i": In(PushSignature(shape)),
                "o": Out(stream.Signature(shape)),
                "empty": Out(1),
                "full": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        m = Module()
        front = Signal(self.shape, reset_less=True)
        valid = Signal()
        taken = Signal(range(self.depth + 1))
        stored = Signal(range(self.depth + 1))
        pop = Signal()
        advance = Signal()
        m.d.comb += [
            self.o.payload.eq(front),
            self.o.valid.eq(valid),
            self.i.ready.eq(~self.full),
            self.empty.eq(~valid),
            pop.eq(valid & self.o.ready),
            advance.eq(pop | ~valid),
        ]
        m.d.sync += [
            taken.eq(taken + self.i.push - pop),
            self.full.eq(~pop & (self.full | (self.i.push & (taken == self.depth - 1)))),
            stored.eq(stored + self.i.strobe - pop),
        ]
        if self.depth == 1:
            more, following = Const(0), self.i.token
        else:
            more, following = stored > 1, self._following(m, advance & (self.i.strobe | (stored > 1)))
        with m.If(advance):
            m.d.sync += [valid.eq(more | self.i.strobe), front.eq(Mux(more, following, self.i.token))]
        return m

    def _following(self, m: Module, advance: ValueLike) -> Value:
        """The token behind the front, from a memory that every token passes.

        The front is a register of its own, so that a head costs the actor neither the memory's delay nor a
        multiplexer.
        """
        depth = self.depth - 1
        m.submodules.storage = storage = memory.Memory(shape=Shape.cast(self.shape), depth=depth, init=[])
        write = storage.write_port()
        head = Signal(range(depth))
        tail = Signal(range(depth))
        next_head = Signal(range(depth))
        m.d.comb += [
            next_head.eq(Mux(advance, _successor(head, depth), head)),
            write.addr.eq(tail),
            write.data.eq(self.i.token),
            write.en.eq(self.i.strobe),
        ]
        m.d.sync += head.eq(next_head)
        with m.If(self.i.strobe):
            m.d.sync += tail.eq(_successor(tail, depth))
        if self.depth <= _SHALLOW:
            read = storage.read_port(domain="comb")
            m.d.comb += read.addr.eq(head)
        else:
            read = storage.read_port(transparent_for=(write,))
            m.d.comb += [read.addr.eq(next_head), read.en.eq(1)]
        return read.data


def _successor(pointer: Signal, depth: int) -> Value:
    return Mux(pointer == depth - 1, 0, pointer + 1)
