"""Channels: FIFOs whose slots are counted at the push, so that ready and valid are both registered."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, Shape, ShapeLike, Signal, Value, ValueLike
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from samhw.rtl.shared import Shared

__all__ = ["Fifo", "PushSignature"]


_SHALLOW = 32
"""Channels up to this depth are made of memory that is read without a clock, deeper ones of block memory."""


_WITHOUT_CARRY = 4
"""Counters up to this width are cheaper without a chain of carries: each bit is a table of its own."""


class PushSignature(wiring.Signature):
    """An output of an actor, whose operation may take L cycles.

    * `push`: the actor fires in this cycle t and takes a slot of every channel that the output feeds. Only
    while `ready`.
    * `ready`: every channel that the output feeds has a free slot; comes from registers.
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
        taken = Signal(range(self.depth))  # slots, modulo a power of two: `full` tells none from all
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
        with m.If(self.i.push ^ pop):
            m.d.sync += [
                taken.eq(_stepped(taken, down=pop)),
                self.full.eq(~pop & (taken == self.depth - 1)),
            ]
        more, following = (Const(0), self.i.token) if self.depth == 1 else self._behind(m, advance)
        with m.If(advance):
            m.d.sync += [valid.eq(more | self.i.strobe), front.eq(Mux(more, following, self.i.token))]
        return m

    def _behind(self, m: Module, advance: Value) -> tuple[Value, Value]:
        """Whether there is a token after the front, and which: from a memory that every token passes.

        The front is a register of its own, so that a head costs the actor neither the memory's delay nor a
        multiplexer.
        """
        depth = self.depth - 1
        m.submodules.storage = storage = memory.Memory(shape=Shape.cast(self.shape), depth=depth, init=[])
        write = storage.write_port()
        head = Signal(range(depth))
        tail = Signal(range(depth))
        more = Signal()
        passes = Signal()  # a token leaves the memory for the front, or goes there past it
        m.d.comb += [
            passes.eq(advance & (self.i.strobe | more)),
            write.addr.eq(tail),
            write.data.eq(self.i.token),
            write.en.eq(self.i.strobe),
        ]
        one = _successor(head, depth) == tail
        with m.If(advance ^ self.i.strobe):
            m.d.sync += more.eq(self.i.strobe | (more & ~one))
        with m.If(passes):
            m.d.sync += head.eq(_successor(head, depth))
        with m.If(self.i.strobe):
            m.d.sync += tail.eq(_successor(tail, depth))
        if self.depth <= _SHALLOW:
            read = storage.read_port(domain="comb")
            m.d.comb += read.addr.eq(head)
        else:
            read = storage.read_port(transparent_for=(write,))
            m.d.comb += [read.addr.eq(Mux(passes, _successor(head, depth), head)), read.en.eq(1)]
        return more, read.data


def _successor(pointer: Signal, depth: int) -> Value:
    following = _stepped(pointer)
    return following if depth == 1 << len(pointer) else Mux(pointer == depth - 1, 0, following)


def _stepped(count: Signal, *, down: ValueLike = 0) -> Value:
    """One more, or one less; around the power of two."""
    if len(count) > _WITHOUT_CARRY:
        return (count + Mux(down, -1, 1))[: len(count)]
    flips = [Mux(down, ~count[:bit].any(), count[:bit].all()) for bit in range(len(count))]
    return count ^ Cat(flips)
